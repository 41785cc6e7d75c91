#include "apps/sweep/hashed_json.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"

namespace farfield::sweep {
namespace {

constexpr std::string_view kWhere = "sweep";

// A name need not be UTF-8.
std::string text_of(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string hashed_text(Json json, int indent) {
  json["hash"] = hash_hex(text_of(json));
  return text_of(json, indent) + "\n";
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
  const std::string own = hash_hex(text_of(read.tree));
  require<IoError>(hash == own, kWhere, file.string(), ": expected the hash of what it holds, ",
                   own, ", got ", text_of(hash), "; the file is damaged or was changed; ", way_out);
  return read;
}

}  // namespace farfield::sweep
