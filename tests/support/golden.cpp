#include "tests/support/golden.h"

#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>

#include "engine/base/error.h"
#include "tests/support/source_dir.h"

namespace farfield::test {

const nlohmann::json& golden(std::string_view name) {
  const char* const folder = std::getenv("FARFIELD_GOLDEN_DIR");
  const std::filesystem::path all =
      folder != nullptr ? std::filesystem::path(folder) : source_dir() / "tests/golden";
  const std::string path = (all / name).string();
  static std::map<std::string, nlohmann::json> read;  // its entries stay where they are
  const auto found = read.find(path);
  if (found != read.end()) return found->second;
  std::ifstream file(path);
  require<IoError>(file.good(), "golden", "cannot read ", path);
  return read[path] = nlohmann::json::parse(file);
}

double golden_number(const nlohmann::json& value) {
  if (!value.is_string()) return value.get<double>();
  const double infinity = std::numeric_limits<double>::infinity();
  return value.get<std::string>() == "-inf" ? -infinity : infinity;
}

std::vector<double> golden_numbers(const nlohmann::json& array) {
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
