#include "apps/cli/json_number.h"

#include <cmath>
#include <string>

#include "apps/cli/options.h"
#include "engine/base/json.h"

using nlohmann::ordered_json;

namespace farfield::cli {

ordered_json to_json(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(number(value));
}

ordered_json to_json(const std::vector<double>& values) {
  ordered_json all = ordered_json::array();
  for (const double value : values) all.push_back(to_json(value));
  return all;
}

double to_double(const ordered_json& json) {
  if (json.is_number()) return json.get<double>();
  const std::string word = json.get<std::string>();
  if (word == "inf") return INFINITY;
  return word == "-inf" ? -INFINITY : std::nan("");
}

std::vector<double> to_doubles(const ordered_json& json) {
  std::vector<double> values;
  for (const ordered_json& value : json) values.push_back(to_double(value));
  return values;
}

}  // namespace farfield::cli
