#pragma once

#include <string>

namespace farfield::run {

/// A corpus that a run reads, and its share of the rows relative to the others'.
struct DataUse {
  std::string path;
  double weight = 1;
};

/// "PATH" or "PATH:WEIGHT", as --data takes it. A path that is there is taken whole, with a colon
/// and a number at its end too. ConfigError for a weight that is not finite and above 0.
DataUse parse_data_use(const std::string& text);
/// The text for parse_data_use(); without the weight if that is 1.
std::string to_text(const DataUse& use);

}  // namespace farfield::run
