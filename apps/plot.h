#pragma once

#include <string>
#include <vector>

namespace farfield::apps {

struct PlotPoint {
  double x = 0, y = 0;
  double error = 0;  ///< half an error bar; 0 or not finite: none
};

/// One line of a plot. Points with a y that is not finite are left out, and break the line.
struct Curve {
  std::string label;
  std::vector<PlotPoint> points;
};

struct Plot {
  std::string title, x_label, y_label;
  std::vector<Curve> curves;
  double marked_x = 0;       ///< a vertical line here, e.g. the training length; 0: none
  std::string marked_label;  ///< what stands beside it
};

/// Whether gnuplot is there to draw with.
bool can_plot();

/// Whether there is a point to draw.
bool has_points(const Plot& plot);

/// The plot as one SVG element, x on a base 2 logarithmic axis, y logarithmic when it spans more
/// than a factor of 8. Lines differ in dashes and markers as well as in colour, so that a grey copy
/// can be read. Drawn by gnuplot as another process. BackendError when it is missing or fails.
std::string draw_svg(const Plot& plot);

}  // namespace farfield::apps
