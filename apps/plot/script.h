#pragma once

#include <string>

#include "apps/plot/plot.h"

namespace farfield::plot {

/// Commands for gnuplot, and the height of the picture that they make.
struct PlotScript {
  std::string commands;
  int height = 0;
};

/// ConfigError without a point to draw.
PlotScript plot_script(const Plot& plot, const PlotSize& size);
/// Two beside each other: see draw_svg().
PlotScript plot_script(const Plot& left, const Plot& right, const PlotSize& size);

}  // namespace farfield::plot
