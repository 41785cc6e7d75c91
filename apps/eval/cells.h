#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/eval/protocols/subject.h"
#include "apps/run/load_run.h"
#include "apps/run/settings.h"

namespace farfield::eval {

/// A finished cell, with everything that decides its numbers.
struct KeptCell {
  run::Settings key;      ///< model, text, protocol, parameters, length
  ProtocolResult result;  ///< with this one length
};

/// What tells the numbers of one model from those of another: checkpoint, encoding, precision,
/// device.
run::Settings model_key(const run::LoadedRun& run);

/// Finished cells as files in a folder, one JSON file each, written whole or not at all; a cell
/// whose scores were not finite is finished too, and keeps its failure. A file that is damaged, or
/// of another key, is measured again. With `again` nothing is found, and files are replaced.
Cells cell_files(const std::filesystem::path& folder, const run::Settings& model, bool again);

/// Every cell of a folder, or those of one protocol, in the order of their files' names. A damaged
/// file is an IoError that says how to get rid of it, or where `damaged` is given is left out and
/// named there.
std::vector<KeptCell> read_cells(const std::filesystem::path& folder,
                                 const std::string& protocol = {},
                                 std::vector<std::filesystem::path>* damaged = nullptr);

}  // namespace farfield::eval
