#pragma once

#include <string>

namespace farfield::plot {

/// An SVG of gnuplot's that looks the same in fewer bytes: without empty groups and the symbols
/// that nothing uses, and with lines of no more points than a tenth of a pixel needs. Other
/// elements stay as they are.
std::string compact_svg(std::string svg);

}  // namespace farfield::plot
