#pragma once

#include <string>

namespace farfield::cli {

/// "45 s", "3 min 20 s", "2 h 05 min"
std::string duration(double seconds);

/// Seconds of an option's text: "90", "90s", "8m", "1h30m", "2d". ConfigError, naming program and
/// option, for another text and for no time at all.
double seconds_of_duration(const std::string& program, const std::string& option,
                           const std::string& text);

}  // namespace farfield::cli
