#pragma once

#include <string>

namespace farfield::plot {

/// Whether gnuplot is there to draw with.
bool can_plot();

/// Text for a picture as a gnuplot string in single quotes: nothing in it is a command or an
/// escape, and all of it is text that XML may hold.
std::string quoted(const std::string& text);

/// What gnuplot, as another process, makes of the commands: one SVG of that many pixels, with text
/// of that many where the commands do not say otherwise. BackendError when it is missing or fails.
std::string run_gnuplot(const std::string& commands, int width, int height, int font = 14);

}  // namespace farfield::plot
