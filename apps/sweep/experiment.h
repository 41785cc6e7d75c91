#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apps/run/settings.h"
#include "apps/sweep/scale.h"
#include "layers/config.h"

namespace farfield::sweep {

class Measured;
class Evidence;
struct Section;

/// A unit of a task's lengths at each scale; 0: the training length of the scale.
struct TaskUnit {
  int64_t smoke = 0, tiny = 0, published = 0;  ///< `published`: from `small` on
};

/// One model of an experiment: a column of the paper's table. Lengths are in units (scale.h).
struct Arm {
  std::string label;       ///< unique in the experiment: "ALiBi", "w = 40"
  std::string posenc;      ///< as in the paper; expression_at() converts it to another scale
  std::string group = {};  ///< part of the table: "slope shift"
  /// The arm's name in the paper's numbers (reference.h): columns encoding, variant, param. An
  /// empty encoding: the paper does not have this arm.
  std::string encoding = {}, variant = {}, param = {};
  double train_len = 1;
  /// Trained on this task, as `train --task`, and not on a data set. In both texts {x} stands for x
  /// units, and so it does in posenc. train_len is the longest length.
  std::string task = {}, task_lengths = "1..{1}";
  /// The label of an earlier arm whose trained weights this one starts from; empty: random weights.
  std::string starts_from = {};
  std::map<std::string, double> values = {};  ///< swept values: {{"w", 40}}
  Size size = Size::base;
  double steps = 1;                  ///< share of the recipe's
  double batch = 1;                  ///< share of the recipe's sequences
  uint64_t draw = 0;                 ///< of arms that differ in the seed alone: a seed of its own
  run::Settings training = {};       ///< more options of `train`, such as {"clip", "0.1"}
  std::string measured_posenc = {};  ///< measured under this one; empty: as trained
  bool drop_learned = false;         ///< of measured_posenc: as `eval --drop-learned`
  enum class Scales { all, published, shrunk };
  Scales scales = Scales::all;     ///< `published`: only at paper and small; `shrunk`: only below
  Scale meant_for = Scale::paper;  ///< what posenc and measured_posenc are written for
  bool is_scaled = true;           ///< they change with the scale
  /// Instead of posenc, where it depends on the model's heads.
  std::string (*posenc_for)(const ModelConfig& model) = nullptr;
};

/// A measurement of every arm: a protocol of `eval` and its options.
struct Measure {
  std::string key;       ///< "P1": what outputs and findings ask for
  std::string protocol;  ///< as `eval --protocol`
  /// In units; empty for a protocol without lengths. A protocol whose lengths are no tokens has an
  /// option of its own for them, which the measure gives too.
  std::vector<double> lengths = {};
  int64_t offset = 0;  ///< tokens that are added to each: -1 for T = 2047
  /// Options of `eval`. In a value, {x} stands for the tokens of x units: {"baseline",
  /// "masked@{1}"}. The options of the scale's profile (segments, ...) are added to these.
  run::Settings options = {};
  /// More of them for a run that the user gives, whose passes may cost a thousand times as much.
  run::Settings given_options = {};
};

/// A table or figure of an experiment's measurements.
struct Output {
  enum class Form {
    table,   ///< lengths x arms, beside the paper's where it has one
    curves,  ///< a quantity by length, one line an arm
    series,  ///< a series of the measurement (by position, by distance), one line an arm
    rows,    ///< arms x quantities, at the longest length
  };
  Form form = Form::table;
  std::string measure;                       ///< Measure::key
  std::string quantity = "perplexity";       ///< of table and curves; of series the name of that
  std::vector<std::string> quantities = {};  ///< of rows; empty: all
  std::vector<std::string> positions = {};  ///< of these: shown for each seed, as they have no mean
  std::string caption = {};
  bool is_log_x = true, may_log_y = true;
  double length = 0;                     ///< of series: at this one, in units; 0: the longest
  double most_x = 0;                     ///< of series: the end of the axis, in units; 0: all
  std::vector<std::string> groups = {};  ///< only arms of these; empty: all
  bool is_of_one_seed = false;           ///< of the first seed, for quantities without a mean
  double marked_y = std::nan("");        ///< as in plot::Plot
  std::string marked_y_label = {};
  bool marks_last_length = false;  ///< of series by position: a line one L before the end
  bool is_count = false;           ///< of series: y is a count, drawn in steps

  bool shows(const Arm& arm) const;  ///< by its group
};

/// A checkable statement over measured numbers. `check` is called for each data set of the
/// experiment that `on` allows.
struct Finding {
  std::string claim;  ///< id in claims.csv, or of our own: "truth/bf16-1"
  void (*check)(const Measured&, Evidence&) = nullptr;
  /// `far`: text that rewards a long context, synthetic below `small`, any at `small` and `paper`.
  enum class On { any, text, synthetic, far };
  On on = On::any;
  std::string statement = {};  ///< of one that claims.csv does not have
  /// The finding compares models up to their training length, which the number of steps decides, so
  /// that `brief` does not judge it.
  bool needs_steps = false;
  /// What `check` asks below `small`, in words, where this differs from the statement.
  std::string asked = {};
  /// `check` looks at the printed numbers alone: it is called once, at any scale.
  bool is_of_printed_numbers = false;
};

/// A table, a figure or a described experiment of a paper, with lengths in units. Rows stand in
/// experiments/, one file each, as what `std::vector<Experiment> <file>_rows()` returns.
struct Experiment {
  int place = 0;       ///< in lists and reports: those with a smaller one come before
  std::string id;      ///< "sandwich/table1"
  std::string title;   ///< the question of the experiment, in a line
  std::string source;  ///< "Sandwich (arXiv:2212.10356) table 1"
  /// Data sets of the paper; `few` are those taken below `small`, with "topic" and "induction" of
  /// our own. Empty `few`: the first.
  std::vector<std::string> datasets = {"arxiv"}, few = {};
  TaskUnit unit = {};       ///< of an experiment of tasks: what its lengths are counted in
  bool has_spread = false;  ///< the paper has several seeds
  bool is_own = false;      ///< of the user's own grid (grid.h)
  int64_t least_seeds = 1;  ///< that it has, whatever else asks for fewer
  std::vector<Arm> arms = {};
  /// The label of an arm whose trained model all others change: by another expression in the
  /// measurement, or by a fine-tune. A run that the user gives can take its place (given_run.h).
  /// Empty: the experiment trains several models.
  std::string base_arm = {};
  std::vector<Measure> measures = {};
  std::vector<Output> outputs = {};
  std::vector<Finding> findings = {};
  std::string reference = {};      ///< the experiment's name in the paper's numbers; empty: none
  std::string reference_arm = {};  ///< label, for paired tests and marks; empty: none
  /// The marks of the paper: "S" as `eval compare --marks paper` or "K" as kerple-paper; none for
  /// an own grid.
  std::string marks = "S";
  /// Without training: fills tables, figures and evidence of its own. Also called for experiments
  /// with arms, after their outputs, where there is more to show.
  void (*compute)(const Measured&, Section&) = nullptr;
  std::string not_run = {};               ///< why it cannot be run; empty: it can
  std::vector<std::string> also = {};     ///< other ids, of parts of it that have a name
  std::vector<std::string> remarks = {};  ///< remarks for the reader
  /// What the source saw of its own model, for readers of a sweep of a given run.
  std::string observed = {};

  /// Whether its models are trained on tasks. It then has no data sets.
  bool is_of_tasks() const;
};

/// A finding of our own.
Finding own_finding(const std::string& id, decltype(Finding::check) check,
                    const std::string& statement);
/// An experiment without models: what `compute` shows.
Experiment without_models(int place, const std::string& id, const std::string& title,
                          const std::string& source, decltype(Experiment::compute) compute,
                          std::vector<Finding> findings = {});

/// Its id, then Experiment::also.
std::vector<std::string> ids_of(const Experiment& experiment);

/// All of them, by place.
const std::vector<Experiment>& experiments();
/// By id, or by an id of Experiment::also. ConfigError with the nearest id.
const Experiment& experiment_named(const std::string& id);
/// By id, glob ("sandwich/fig*") or claim ("S-T1-4"), in the order of experiments(), each once.
/// ConfigError for a word that finds none.
std::vector<const Experiment*> experiments_matching(const std::vector<std::string>& words);

}  // namespace farfield::sweep
