#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "apps/plot/gnuplot.h"

namespace farfield::plot {

struct Range {
  double least = INFINITY, most = -INFINITY;
  void add(double value);
  void add(const Range& other);
  bool empty() const { return least > most; }
};

struct PlotPoint {
  double x = 0, y = 0;
  double error = 0;                                ///< half an error bar; 0 or not finite: none
  double low = std::nan(""), high = std::nan("");  ///< of a band around y; not finite: none
};

/// One line of a plot, over a light band where its points have one. Points with a y that is not
/// finite are left out, and break the line. A curve without markers is thin; a curve without a line
/// has markers.
struct Curve {
  std::string label = {};
  std::vector<PlotPoint> points = {};
  int style = -1;           ///< colour, dashes and markers, 0, 1, ...; -1: by its place in the plot
  std::string colour = {};  ///< "#rrggbb" instead of the colour of the style
  bool has_markers = true;  ///< one at each point
  bool has_line = true;
  bool is_step = false;  ///< of a count: the line keeps its height up to the next point
};

struct Plot {
  std::string title = {}, x_label = {}, y_label = {};
  std::vector<Curve> curves = {};
  double marked_x = 0;              ///< a vertical line here, e.g. the training length; 0: none
  std::string marked_label = {};    ///< what stands beside it
  double marked_y = std::nan("");   ///< a horizontal line here, e.g. a threshold; not finite: none
  std::string marked_y_label = {};  ///< what stands below it
  bool is_log_x = true;             ///< base 2; then every x must be above 0
  bool may_log_y = true;            ///< logarithmic when it spans more than a factor of 8
  bool has_whole_y = false;         ///< y is a count: marks at whole numbers alone
  /// The range of y instead of the range of the curves, which are cut off where they leave it;
  /// empty: none. Not for a difference.
  Range y_range = {};
  std::string band_label = {};  ///< the meaning of the bands, for the key; empty: no entry
  /// Of differences: a line at 0, the curves side by side at each x, and where small ones stand
  /// beside large ones an axis that is linear near 0 and logarithmic far from it.
  bool is_difference = false;
};

/// Where a plot is to stand: pixels of its own, and the size of its text in them.
struct PlotSize {
  int width = 860, height = 480, font = 14;
  bool has_title = true;  ///< drawn above it; otherwise the page around it says it
};
/// Half the width of a page, or all of a telephone's: its text is 13 pixels high where the plot is
/// 358 wide.
inline constexpr PlotSize kPagePlot = {440, 400, 16, false};

/// At most about n points instead of many, with the same shape: the mean of the points in each of n
/// equal parts of the axis (of its logarithm for is_log_x). The mean leaves out points that are not
/// finite, unless its part has no others. Points have to be in order of x.
std::vector<PlotPoint> thinned(const std::vector<PlotPoint>& points, size_t n, bool is_log_x);

/// Whether there is a point to draw.
bool has_points(const Plot& plot);

/// The range of y that the plot shows, but for its margins. Empty without points.
Range y_range_of(const Plot& plot);
/// Whether y is drawn on a logarithmic axis.
bool has_log_y(const Plot& plot);

/// The plot as one SVG document with a description, which follows a reader's dark scheme
/// (finished_svg()). Lines differ in dashes and markers as well as in colour, so that a grey copy
/// can be read. A curve with thousands of points is thinned() to the visible ones. A key of long
/// labels stands below, and adds to the height. Drawn by gnuplot as another process. BackendError
/// when it is missing or fails.
std::string draw_svg(const Plot& plot, const PlotSize& size = {});
/// The bytes of the same as a PNG file, on white. BackendError likewise.
std::string draw_png(const Plot& plot, const PlotSize& size = {});
/// A plot, or two beside each other, and its place.
struct PlotRequest {
  const Plot* plot = nullptr;
  const Plot* right = nullptr;  ///< null: the plot alone
  PlotSize size = {};
};
/// draw_svg() of each, which together take less time.
std::vector<std::string> draw_svgs(const std::vector<PlotRequest>& requests);
/// Two plots beside each other, with the title and the key of the left one. Curves on the right
/// need the `style` of the left curves that they belong to.
std::string draw_svg(const Plot& left, const Plot& right, const PlotSize& size);
/// Returns the result of `draw`, for a picture beside numbers that must not be lost with it: empty
/// if the picture cannot be drawn, and `why` gives the reason.
std::string draw_or_say(const std::function<std::string()>& draw, std::string& why);
std::string draw_svg_or_say(const Plot& plot, std::string& why);

/// Curve i of n as a colour that says its place among them: from dark blue to light yellow, ordered
/// for the colour-blind and in grey too.
std::string ramp_colour(size_t i, size_t n);

}  // namespace farfield::plot
