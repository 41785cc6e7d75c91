#pragma once

#include <string>

namespace farfield::plot {

/// The command that gives gnuplot the colours of ramp_colour() for its palette.
std::string palette_command();

}  // namespace farfield::plot
