#pragma once
// Expected values from tests/golden, one JSON object per file.

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace farfield::test {

/// The JSON of tests/golden/<name>, for example golden("model.json"). The environment variable
/// FARFIELD_GOLDEN_DIR names another folder. Stays valid to the end of the program.
const nlohmann::json& golden(std::string_view name);

/// A number, or one of the strings "inf" and "-inf" that stand for what JSON cannot write.
double golden_number(const nlohmann::json& value);

/// All numbers of a nested array, in order.
std::vector<double> golden_numbers(const nlohmann::json& array);

}  // namespace farfield::test
