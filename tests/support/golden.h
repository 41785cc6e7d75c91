#pragma once
// Expected values from tests/golden, one JSON object per file.

#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/base/error.h"

namespace farfield::test {

/// The JSON of tests/golden/<name>, for example golden("model.json"). The environment variable
/// FARFIELD_GOLDEN_DIR names another folder.
inline nlohmann::json golden(const std::string& name) {
  const char* const folder = std::getenv("FARFIELD_GOLDEN_DIR");
  const std::string path =
      (folder != nullptr ? folder : FARFIELD_SOURCE_DIR "/tests/golden") + ("/" + name);
  std::ifstream file(path);
  require<IoError>(file.good(), "golden", "cannot read ", path);
  return nlohmann::json::parse(file);
}

/// A number, or one of the strings "inf" and "-inf" that stand for what JSON cannot write.
inline double golden_number(const nlohmann::json& value) {
  if (!value.is_string()) return value.get<double>();
  const double infinity = std::numeric_limits<double>::infinity();
  return value.get<std::string>() == "-inf" ? -infinity : infinity;
}

/// All numbers of a nested array, in order.
inline std::vector<double> golden_numbers(const nlohmann::json& array) {
  std::vector<double> numbers;
  for (const nlohmann::json& entry : array) {
    if (entry.is_array()) {
      const std::vector<double> inner = golden_numbers(entry);
      numbers.insert(numbers.end(), inner.begin(), inner.end());
    } else {
      numbers.push_back(golden_number(entry));
    }
  }
  return numbers;
}

}  // namespace farfield::test
