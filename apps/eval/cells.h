#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/eval/result.h"
#include "apps/run/load_run.h"
#include "apps/run/settings.h"

namespace farfield::eval {

/// A finished cell, with everything that decides its numbers.
struct KeptCell {
  run::Settings key;                          ///< model, text, protocol, parameters, length
  ProtocolResult result;                      ///< with this one length
  std::filesystem::file_time_type time = {};  ///< of its file
};

/// The facts that tell one model's numbers from another's: checkpoint, encoding, precision, device.
run::Settings model_key(const run::LoadedRun& run);

/// Finished cells as files in a folder, one JSON file each, written whole or not at all; a cell
/// whose scores were not finite is finished too, and keeps its failure. A file that is damaged, or
/// of another key, is measured again.
class CellFiles {
 public:
  struct Use {
    bool find = true;  ///< false: everything is measured again, and files are replaced
    bool keep = true;  ///< false: nothing is written
  };
  /// Of model_key(), followed by the text, the baseline and the seed: "text", "baseline", "seed".
  CellFiles(std::filesystem::path folder, run::Settings subject, Use use)
      : folder_(std::move(folder)), subject_(std::move(subject)), use_(use) {}

  /// The cell of this length, if an earlier call finished it.
  std::optional<LengthResult> find(uint64_t draw, const ProtocolResult& of, int64_t length) const;
  /// Keeps a result that another attempt would repeat. A failure for lack of memory is not kept:
  /// memory may suffice the next time.
  void keep(uint64_t draw, const ProtocolResult& of, const LengthResult& cell) const;

 private:
  run::Settings key_of(uint64_t draw, const ProtocolResult& of, int64_t length) const;
  std::filesystem::path folder_;
  run::Settings subject_;
  Use use_;
};

/// Every cell of a folder, or the cells of one protocol, in the order of their files' names. A
/// damaged file is an IoError that says how to get rid of it. If `damaged` is given, the file is
/// left out and named there.
std::vector<KeptCell> read_cells(const std::filesystem::path& folder,
                                 const std::string& protocol = {},
                                 std::vector<std::filesystem::path>* damaged = nullptr);

}  // namespace farfield::eval
