#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace farfield::plot {

/// A square matrix as a picture, row 0 at the top: the darker the lower.
struct Picture {
  std::string title = {}, x_label = {}, y_label = {};
  std::vector<double> values = {};  ///< [n, n]; values that are not finite stay white
  int64_t n = 0;
  double step = 1;  ///< from one column, and row, to the next, in the units of the axes
};

/// The picture, with a scale beside it, as one SVG element. BackendError without gnuplot.
std::string draw_svg(const Picture& picture);

}  // namespace farfield::plot
