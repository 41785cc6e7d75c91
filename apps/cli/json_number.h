#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace farfield::cli {

// JSON has no infinities and no NaN: such numbers are "inf", "-inf" and "nan".

nlohmann::ordered_json to_json(double value);
nlohmann::ordered_json to_json(const std::vector<double>& values);

/// Throws nlohmann's exceptions for a value that is neither a number nor a string; NaN for other
/// words.
double to_double(const nlohmann::ordered_json& json);
std::vector<double> to_doubles(const nlohmann::ordered_json& json);

}  // namespace farfield::cli
