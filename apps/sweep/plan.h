#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/eval/result.h"
#include "apps/run/settings.h"
#include "apps/sweep/datasets.h"
#include "apps/sweep/experiment.h"
#include "apps/sweep/scale.h"

namespace farfield::sweep {

/// One measurement of a cell: `eval` with these options.
struct Measurement {
  std::string protocol;
  std::string posenc = {};  ///< instead of the trained one; empty: as trained
  bool drop_learned = false;
  run::Settings options = {};  ///< of `eval`, lengths among them, but for --protocol
  double work = 0;             ///< multiply-adds, about: to judge time left by

  /// Names it; equal for equal ones.
  std::string id() const;
  /// Names it but for its lengths.
  std::string family() const;
};

/// A trained model and its measurements.
struct Cell {
  run::Settings training;  ///< of `train`, resolved; its data is the corpus's path
  std::string corpus;      ///< name among the data sets; of a task its canonical text
  std::string corpus_hash;
  std::vector<Measurement> measurements;
  double training_work = 0;     ///< as Measurement::work
  std::string given_name = {};  ///< that its user gave the expression; empty: none
  /// The cell whose trained weights this one starts from, without measurements; null: none. Its
  /// hash stands in `training` as --init-from and --init-hash.
  std::shared_ptr<const Cell> base = nullptr;
  /// The cell is the run that --init-from names, which is measured and not trained (given_run.h).
  bool is_given = false;

  /// The settings that training depends on: its identity without settings at their default, and the
  /// corpus. key() names the cell, hash() its files.
  run::Settings key() const;
  std::string hash() const;
  uint64_t seed() const;
  bool has_task() const;      ///< trained on a task: it needs no corpus
  std::string label() const;  ///< "alibi on latex, L 64, seed 1": for people
  double work() const;        ///< of all of it
  /// Adds the measurements that the cell does not have yet.
  void add(const std::vector<Measurement>& more);
};

/// An arm at a scale.
struct PlannedArm {
  Arm arm;                           ///< as the experiment has it
  std::string posenc;                ///< canonical, of this scale
  std::string measured_posenc = {};  ///< Arm::measured_posenc of this scale
  const std::string& label() const { return arm.label; }
};

/// A data set of an experiment at a scale.
struct PlannedDataset {
  std::string name;    ///< the paper's: "arxiv"
  std::string corpus;  ///< what stands for it: "latex"
  std::string hash;    ///< of the corpus
  bool is_synthetic = false;
  bool is_of_tasks = false;  ///< no data set: every model has a task of its own
};

struct GivenRun;  // given_run.h

/// An experiment at a scale: which cells it is made of.
struct Plan {
  const Experiment* experiment = nullptr;
  Scale scale = Scale::tiny;
  int64_t unit = 0;                       ///< tokens that lengths are counted in
  std::shared_ptr<const GivenRun> given;  ///< as in PlanOptions
  std::vector<PlannedArm> arms;
  std::vector<PlannedDataset> datasets;
  std::vector<uint64_t> seeds;
  std::string document_order = "seed";  ///< as in PlanOptions
  std::vector<Cell> cells;              ///< [dataset][arm][seed]

  const Cell& cell(size_t dataset, size_t arm, size_t seed) const {
    return cells[(dataset * arms.size() + arm) * seeds.size() + seed];
  }
  /// Tokens of so many units.
  int64_t tokens(double units) const { return tokens_of(unit, units); }
  /// The arm of cells[i].
  const PlannedArm& arm_of(size_t i) const { return arms[i / seeds.size() % arms.size()]; }
  /// The measurement of that key for an arm.
  Measurement measurement(const std::string& key, const PlannedArm& arm,
                          const PlannedDataset& dataset) const;
};

/// Whether a finding speaks of this data set.
bool is_judged_on(const Finding& finding, const Plan& plan, const PlannedDataset& dataset);

/// The most seeds that a sweep may have: an arm's draw d has those from 1000 d on.
inline constexpr int64_t kMostSeeds = 1000;

/// The request for a sweep, besides the experiments.
struct PlanOptions {
  Scale scale = Scale::tiny;
  std::optional<int64_t> seeds;  ///< empty: 1, at `paper` the paper's number
  Datasets datasets;
  std::string device = "cpu";
  /// Order of test documents, as `eval --document-order`: "seed", as in the papers, or "file". A
  /// measurement with its own order keeps it.
  std::string document_order = "seed";
  std::vector<std::string> on = {};  ///< only these data sets; empty: all. Not kept by a folder
  /// The run that takes the place of the arm Experiment::base_arm; null: that is trained.
  std::shared_ptr<const GivenRun> given = nullptr;
};

/// The hash of a corpus that is not open yet is empty. ConfigError, naming experiment and arm, for
/// options that this model cannot have.
Plan plan_of(const Experiment& experiment, const PlanOptions& options);

/// The names that --only knows an arm by: its label, its expression as written and at this scale,
/// and its encoding.
std::vector<std::string> names_of(const PlannedArm& arm);

/// The cells of several plans, each once, with all that is measured of it, in the order in which
/// they are made: all cells of the first seed before the second. `only`: cells of arms with these
/// labels, expressions or encodings; empty: all. ConfigError for a name that no arm has.
std::vector<Cell> cells_of(const std::vector<Plan>& plans,
                           const std::vector<std::string>& only = {});

}  // namespace farfield::sweep
