#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/sweep/experiment.h"
#include "apps/sweep/plan.h"
#include "apps/sweep/results.h"

namespace farfield::sweep {

/// The part of an experiment that a call of `sweep run` asked for.
struct PartRequest {
  std::vector<std::string> only = {};  ///< models, as --only names them; empty: all
  std::vector<std::string> on = {};    ///< data sets, as --on names them; empty: all
  bool is_all() const { return only.empty() && on.empty(); }
  bool operator==(const PartRequest&) const = default;
};

/// The folder of a sweep:
///
///   sweep.json         the request, so that every command rebuilds the same plans;
///                      sweep.lock while it is written
///   results/HASH.json  results of a finished cell: all that a report or another machine needs
///   cells/HASH.json    the description of a cell for its worker, which holds cells/HASH.lock
///   runs/HASH/         the run folder of an unfinished cell, or of a cell with kept weights
///   logs/HASH.log      output of the worker; failed/HASH.txt if it ended without results
///   slurm/N.sh         a job array, with its cells in N.cells and its number in N.job
///   tensorboard/NAME/  event files of the training of a cell, where asked for
///   corpora/NAME/      text made for the sweep
///   report/            output of `sweep report`
class SweepFolder {
 public:
  /// A new sweep, or an existing one, which must be of the same scale, device, order of documents
  /// (where `options` has one), given run and corpora: ConfigError names what differs. Where the
  /// given run has moved, its new place is taken.
  SweepFolder(std::filesystem::path path, const PlanOptions& options);
  /// An existing one. IoError where there is none.
  explicit SweepFolder(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path results() const { return path_ / "results"; }
  std::filesystem::path cells() const { return path_ / "cells"; }
  std::filesystem::path runs() const { return path_ / "runs"; }
  std::filesystem::path logs() const { return path_ / "logs"; }
  std::filesystem::path failed() const { return path_ / "failed"; }
  std::filesystem::path cell(const std::string& hash) const { return cells() / (hash + ".json"); }
  std::filesystem::path lock(const std::string& hash) const { return cells() / (hash + ".lock"); }
  std::filesystem::path corpora() const { return path_ / "corpora"; }
  /// The folder of a cell's event files: its label, to be read in TensorBoard, and its hash.
  std::filesystem::path events(const Cell& cell) const;
  std::filesystem::path report() const { return path_ / "report"; }

  /// Adds experiments to the sweep, by id, and raises the number of seeds if it is lower.
  void add(const std::vector<const Experiment*>& experiments, std::optional<int64_t> seeds);
  /// Adds an experiment of the user's own, as parse_grid() reads it, and replaces an experiment of
  /// that name. Its finished cells stay.
  void add_grid(const std::string& name, const std::string& text);
  /// Notes which part of these experiments a call asks for, before the call adds them. An
  /// experiment that was once asked for as a whole stays so.
  void ask(const std::vector<std::string>& ids, const PartRequest& part);
  /// The same for all that was asked of another folder, before its experiments are added.
  void ask_as(const SweepFolder& other);
  /// Writes sweep.json, merged with additions of other processes in the meantime. ConfigError if
  /// the two do not go together.
  void save();

  PlanOptions& options() { return options_; }
  const PlanOptions& options() const { return options_; }
  /// Texts of the user's own experiments, by name.
  const std::map<std::string, std::string>& grids() const { return grids_; }
  /// All experiments of the sweep, in the order of experiments(), then the user's own.
  std::vector<const Experiment*> experiments() const;
  std::vector<Plan> plans() const;
  /// The cells that calls asked for, each once.
  std::vector<Cell> requested_cells(const std::vector<Plan>& plans) const;

 private:
  bool has(const std::string& id) const;
  void read();
  void take_what_others_added();
  void take_datasets(const Datasets& more);
  void take_given(const std::shared_ptr<const GivenRun>& given);
  std::string in_folder(const std::string& path) const;
  std::string of_folder(const std::string& path) const;

  std::filesystem::path path_;
  PlanOptions options_;
  std::vector<std::string> ids_;
  // The requested parts by id; an experiment without an entry was asked for as a whole.
  std::map<std::string, std::vector<PartRequest>> parts_;
  std::map<std::string, std::string> grids_;  // text by name
  std::deque<Experiment> own_;                // of grids_
};

/// The results of a folder but for damaged ones, which their workers put aside. Takes time.
Results readable_results(const SweepFolder& folder);

/// Writes a cell for its worker, merged with an earlier version, since a job may still wait for
/// that.
void write_cell(const std::filesystem::path& folder, Cell cell);
/// IoError for a damaged file.
Cell read_cell(const std::filesystem::path& file);

/// Whether a cell of the folder starts from this one and has no results yet: the weights must stay.
bool is_needed(const SweepFolder& folder, const std::string& hash);
/// Removes the run of a cell, unless it is needed or a process makes that cell.
void drop_weights(const SweepFolder& folder, const std::string& hash);

}  // namespace farfield::sweep
