#pragma once

#include <string>
#include <vector>

namespace farfield::plot {

/// A table of numbers as coloured cells, the first row at the bottom: the darker the lower. Columns
/// are equal parts of the axis of x, rows have names.
struct HeatMap {
  std::string title = {}, x_label = {}, y_label = {};
  std::string value_label = {};  ///< beside the scale
  double x_least = 0, x_most = 1;
  std::vector<std::string> rows = {};
  std::vector<double> values = {};  ///< [rows, columns]; a cell that is not finite stays empty
  double least = 0, most = 1;       ///< of the scale
};

/// The map with its scale, as one SVG element. ConfigError for values that do not fill the rows, or
/// without a finite one; BackendError without gnuplot.
std::string draw_svg(const HeatMap& map);

}  // namespace farfield::plot
