#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "apps/eval/result.h"
#include "apps/run/settings.h"
#include "apps/sweep/plan.h"

namespace farfield::sweep {

/// The results of a finished cell: a few kB of JSON, without weights and without single segments.
struct CellResult {
  std::string hash;    ///< Cell::hash()
  run::Settings key;   ///< Cell::key()
  std::string corpus;  ///< name of the corpus
  /// Of the training and the machine: "parameters", "posenc_parameters", "train_seconds",
  /// "step_ms", "peak_mib", "train_loss"; "seconds" of its processes, with measuring.
  std::map<std::string, double> facts;
  std::map<std::string, std::string>
      words;  ///< "commit", "processor", "device" (of a GPU its name), "precision"
  /// By Measurement::id(). Lengths have no items or places; series are thinned to 512 points and
  /// numbers of series rounded to 7 digits.
  std::map<std::string, eval::ProtocolResult> measured;
  /// Measurement::family() by Measurement::id(), where it is known.
  std::map<std::string, std::string> families;

  /// Whether all of a cell is there.
  bool covers(const Cell& cell) const;
};

/// The file of a cell in a folder of results.
std::filesystem::path result_path(const std::filesystem::path& folder, const std::string& hash);
void write_result(const std::filesystem::path& folder, const CellResult& result);
/// IoError, naming the file, if it is damaged or belongs to another cell.
CellResult read_result(const std::filesystem::path& file);

/// The results of a folder, by hash. Damaged files are left out and named in `damaged`.
class Results {
 public:
  Results() = default;
  static Results read(const std::vector<std::filesystem::path>& folders,
                      std::vector<std::filesystem::path>* damaged = nullptr);
  void add(CellResult result);
  const CellResult* find(const std::string& hash) const;  ///< null: not finished
  const std::map<std::string, CellResult>& all() const { return all_; }

 private:
  std::map<std::string, CellResult> all_;
};

}  // namespace farfield::sweep
