#pragma once

#include <filesystem>
#include <string>

#include "engine/base/json.h"

namespace farfield::sweep {

// A sweep's files of JSON, which decide what is measured and shown. Their last member, "hash", is
// of all others, so that a digit that changed on a disk or in an editor is an error, not another
// report.

/// The text of an object with its hash, in lines with this indent; -1: in one line.
std::string hashed_text(Json json, int indent);

/// What such a file holds.
struct HashedJson {
  Json tree;              ///< without the hash
  bool has_hash = false;  ///< and it fits
};
/// IoError, naming the file, for what is no object of JSON or has another hash than its own; ends
/// with `way_out`.
HashedJson read_hashed(const std::filesystem::path& file, const std::string& way_out);

}  // namespace farfield::sweep
