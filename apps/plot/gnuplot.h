#pragma once

#include <string>

namespace farfield::plot {

/// Whether gnuplot is there to draw with.
bool can_plot();

/// Text for a picture as a gnuplot string in single quotes: nothing in it is a command or an
/// escape, and all of it is text that XML may hold.
std::string quoted(const std::string& text);

/// Runs the commands in gnuplot, as another process, and returns one SVG of that many pixels, with
/// text of `font` pixels unless the commands set another size. BackendError if gnuplot is missing
/// or fails.
std::string run_gnuplot(const std::string& commands, int width, int height, int font = 14);

}  // namespace farfield::plot
