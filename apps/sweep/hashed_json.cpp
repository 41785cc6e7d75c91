#include "apps/sweep/hashed_json.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"

namespace farfield::sweep {
namespace {

constexpr std::string_view kWhere = "sweep";

}  // namespace

std::string hashed_text(Json json, int indent) {
  json["hash"] = hash_hex(write_json(json));
  return write_json(json, indent) + "\n";
}

HashedJson read_hashed(const std::filesystem::path& file, const std::string& way_out) {
  const std::string text = read_file(file);
  HashedJson read = {read_json({kWhere, file.string(), text})};
  require<IoError>(read.tree.is_object(), kWhere, file.string(),
                   ": expected an object, got something else; the file is damaged; ", way_out);
  read.has_hash = read.tree.contains("hash");
  if (!read.has_hash) return read;
  const Json hash = read.tree["hash"];
  read.tree.erase("hash");
  const std::string own = hash_hex(write_json(read.tree));
  require<IoError>(hash == own, kWhere, file.string(), ": expected the hash of what it holds, ",
                   own, ", got ", write_json(hash), "; the file is damaged or was changed; ", way_out);
  return read;
}

}  // namespace farfield::sweep
