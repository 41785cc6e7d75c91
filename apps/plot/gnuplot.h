#pragma once

#include <string>
#include <vector>

namespace farfield::plot {

/// Whether gnuplot is there to draw with.
bool can_plot();

/// Text for a picture as a gnuplot string in single quotes: nothing in it is a command or an
/// escape, and all of it is text that XML may hold.
std::string quoted(const std::string& text);

/// Commands for one picture of that many pixels, with text of `font` pixels unless the commands set
/// another size.
struct Drawing {
  std::string commands;
  int width = 0, height = 0, font = 14;
  enum class Form { svg, png } form = Form::svg;
};

/// Runs the commands in gnuplot and returns the picture of each drawing. Many drawings share a few
/// processes beside this one. BackendError if gnuplot is missing or fails on one of them.
std::vector<std::string> run_gnuplot(const std::vector<Drawing>& drawings);
std::string run_gnuplot(const std::string& commands, int width, int height, int font = 14);

}  // namespace farfield::plot
