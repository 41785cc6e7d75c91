#include "apps/run/place.h"

#include <system_error>

#include "engine/base/json.h"

namespace fs = std::filesystem;

namespace farfield::run {

fs::path real_path(const fs::path& path) {
  std::error_code status;
  const fs::path absolute = fs::absolute(path, status);
  const fs::path found = fs::weakly_canonical(absolute, status);
  return status ? absolute.lexically_normal() : found;
}

Place place_of(const fs::path& what, const fs::path& run) {
  if (what.empty()) return {};
  const fs::path real = real_path(what);
  return {real.string(), real.lexically_relative(real_path(run)).string()};
}

void set_place(Json& json, const Place& place) {
  json["absolute"] = place.absolute;
  json["from_run"] = place.from_run;
}

std::string text_member(const Json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_string()
             ? json[key].get<std::string>()
             : "";
}

Place read_place(const Json& json) {
  return {text_member(json, "absolute"), text_member(json, "from_run")};
}

}  // namespace farfield::run
