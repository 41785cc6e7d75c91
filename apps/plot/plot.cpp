#include "apps/plot/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "apps/plot/gnuplot.h"
#include "apps/plot/script.h"
#include "apps/plot/svg.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::plot {
namespace {

// Means of the finite values of each field.
class MeanPoint {
 public:
  void add(const PlotPoint& point) {
    if (points_ == 0) any_ = point;
    ++points_;
    if (!std::isfinite(point.y)) return;
    const double values[] = {point.x, point.y, point.error, point.low, point.high};
    for (size_t i = 0; i < std::size(values); ++i) sums_[i] += values[i];
    ++finite_;
  }
  bool empty() const { return points_ == 0; }
  PlotPoint take() {
    PlotPoint mean = any_;
    const auto n = static_cast<double>(finite_);
    if (finite_ > 0) mean = {sums_[0] / n, sums_[1] / n, sums_[2] / n, sums_[3] / n, sums_[4] / n};
    *this = MeanPoint();
    return mean;
  }

 private:
  PlotPoint any_;
  double sums_[5] = {};
  int64_t points_ = 0, finite_ = 0;
};

// A description of the plot for screen readers.
SvgText text_of(const std::string& title, const Plot& plot) {
  return {title, concat(plot.y_label, " by ", plot.x_label, ": ",
                        joined(plot.curves, ", ", &Curve::label))};
}

}  // namespace

std::string ramp_colour(size_t i, size_t n) {
  // The colours of viridis (Smith and van der Walt 2015), the last one darker, to be seen on white.
  constexpr double kStops[][3] = {
      {68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {240, 220, 40}};
  const double place =
      n < 2 ? 0 : static_cast<double>(i) / static_cast<double>(n - 1) * (std::size(kStops) - 1);
  const size_t stop = std::min(static_cast<size_t>(place), std::size(kStops) - 2);
  const double share = place - static_cast<double>(stop);
  char text[8] = "#";
  for (size_t c = 0; c < 3; ++c) {
    const double value = kStops[stop][c] * (1 - share) + kStops[stop + 1][c] * share;
    std::snprintf(text + 1 + 2 * c, 3, "%02x", static_cast<unsigned>(std::lround(value)) & 0xffu);
  }
  return text;
}

std::vector<PlotPoint> thinned(const std::vector<PlotPoint>& points, size_t n, bool is_log_x) {
  if (points.size() <= n || n == 0) return points;
  const auto at = [&](const PlotPoint& point) { return is_log_x ? std::log(point.x) : point.x; };
  const double first = at(points.front()), span = at(points.back()) - first;
  std::vector<PlotPoint> means;
  MeanPoint mean;
  size_t part = 0;
  for (const PlotPoint& point : points) {
    const double place = span > 0 ? (at(point) - first) / span * static_cast<double>(n) : 0;
    const size_t here = std::min(static_cast<size_t>(std::max(place, 0.0)), n - 1);
    if (here != part && !mean.empty()) means.push_back(mean.take());
    part = here;
    mean.add(point);
  }
  if (!mean.empty()) means.push_back(mean.take());
  return means;
}

bool has_points(const Plot& plot) {
  for (const Curve& curve : plot.curves)
    for (const PlotPoint& point : curve.points)
      if (std::isfinite(point.y)) return true;
  return false;
}

std::vector<std::string> draw_svgs(const std::vector<PlotRequest>& requests) {
  std::vector<Drawing> drawings;
  for (const PlotRequest& r : requests) {
    PlotScript script =
        r.right == nullptr ? plot_script(*r.plot, r.size) : plot_script(*r.plot, *r.right, r.size);
    drawings.push_back({std::move(script.commands), r.size.width, script.height, r.size.font});
  }
  std::vector<std::string> pictures = run_gnuplot(drawings);
  for (size_t i = 0; i < requests.size(); ++i) {
    const PlotRequest& r = requests[i];
    SvgText text = text_of(r.plot->title, *r.plot);
    if (r.right != nullptr) {
      text.title += ". " + r.right->title;
      text.description += ". " + text_of("", *r.right).description;
    }
    pictures[i] = finished_svg(pictures[i], text);
  }
  return pictures;
}

std::string draw_svg(const Plot& plot, const PlotSize& size) {
  return draw_svgs({{.plot = &plot, .size = size}}).front();
}

std::string draw_png(const Plot& plot, const PlotSize& size) {
  PlotScript script = plot_script(plot, size);
  return run_gnuplot({{std::move(script.commands), size.width, script.height, size.font,
                       Drawing::Form::png}})
      .front();
}

std::string draw_svg(const Plot& left, const Plot& right, const PlotSize& size) {
  return draw_svgs({{&left, &right, size}}).front();
}

std::string draw_or_say(const std::function<std::string()>& draw, std::string& why) {
  if (!can_plot()) {
    why = "gnuplot is not installed; install gnuplot-nox";
    return "";
  }
  try {
    return draw();
  } catch (const Error& error) {
    why = error.what();
    return "";
  }
}

std::string draw_svg_or_say(const Plot& plot, std::string& why) {
  return draw_or_say([&] { return draw_svg(plot); }, why);
}

}  // namespace farfield::plot
