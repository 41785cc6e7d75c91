#include "apps/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "apps/cli.h"
#include "apps/gnuplot.h"
#include "engine/base/error.h"

namespace farfield::apps {
namespace {

constexpr std::string_view kWhere = "plot";

constexpr size_t kMostPoints = 600;  // of a curve: a point or two for each pixel of the axis

struct Range {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  void add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

// Colours that stay apart for the colour-blind (Okabe and Ito 2008), dark first.
constexpr const char* kColours[] = {"#000000", "#d55e00", "#0072b2", "#009e73",
                                    "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f"};
constexpr int kMarkers[] = {7, 9, 5, 13, 6, 8, 4, 12};
constexpr const char* kDashes[] = {"1",     "(10,4)", "(3,3)", "(12,3,3,3)",
                                   "(6,6)", "(16,4)", "(2,5)", "(8,3,2,3,2,3)"};

// Means of what is finite of each field.
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

// The lines that declare the band of a curve, and the part of the plot command that fills it; ""
// when it has none.
std::string band_of(const std::vector<PlotPoint>& points, const std::string& block,
                    const std::string& colour, double floor, std::string& command) {
  std::string lines;
  bool is_open = false;
  for (const PlotPoint& point : points) {
    if (std::isfinite(point.y) && std::isfinite(point.low) && std::isfinite(point.high)) {
      lines += concat(number(point.x), ' ', number(std::max(point.low, floor)), ' ',
                      number(point.high), '\n');
      is_open = true;
    } else if (is_open) {
      lines += "\n";  // ends the band here
      is_open = false;
    }
  }
  if (lines.empty()) return "";
  command += concat(block, " using 1:2:3 with filledcurves fillcolor rgb '", colour,
                    "' fillstyle transparent solid 0.18 noborder notitle, \\\n  ");
  return block + " << END_OF_BAND\n" + lines + "END_OF_BAND\n";
}

// Shows bands and error bars whole, but none so wide that the lines are left with less than a third
// of the axis, unless they hardly rise or fall.
void make_room_for_bands(const Plot& plot, Range& y) {
  Range bands;
  for (const Curve& curve : plot.curves) {
    for (const PlotPoint& point : curve.points) {
      if (std::isfinite(point.low) && std::isfinite(point.high)) {
        bands.add(point.low);
        bands.add(point.high);
      }
      if (std::isfinite(point.y) && std::isfinite(point.error)) {
        bands.add(point.y - point.error);
        bands.add(point.y + point.error);
      }
    }
  }
  const double span = std::max(y.most - y.least, 0.15 * std::abs(y.most));
  y.least = std::min(y.least, std::max(bands.least, y.least - span));
  y.most = std::max(y.most, std::min(bands.most, y.most + span));
}

// The lines that declare the data of each curve and the plot command.
std::string script_of(Plot plot) {
  Range x, y;
  for (Curve& curve : plot.curves) {
    for (const PlotPoint& point : curve.points)
      if (std::isfinite(point.y)) x.add(point.x);
    if (curve.points.size() > kMostPoints)
      curve.points = thinned(curve.points, kMostPoints, plot.is_log_x);
    for (const PlotPoint& point : curve.points)
      if (std::isfinite(point.y)) y.add(point.y);
  }
  require<ConfigError>(
      (x.least > 0 || !plot.is_log_x) && std::isfinite(x.least) && std::isfinite(x.most), kWhere,
      "expected at least one point with a finite value", plot.is_log_x ? " and x > 0" : "");
  const bool log_y = plot.may_log_y && y.least > 0 && y.most > 8 * y.least;
  if (!log_y) make_room_for_bands(plot, y);

  std::string script =
      "set border 3 linewidth 1 linecolor rgb '#444444'\n"
      "set tics nomirror out\n"
      "set grid ytics linecolor rgb '#dddddd' linetype 1 linewidth 1\n"
      "set datafile missing '?'\n"
      "set key noenhanced Left reverse samplen 4 ";
  // Long labels go below, where they take no width.
  const bool is_wide = std::any_of(plot.curves.begin(), plot.curves.end(),
                                   [](const Curve& curve) { return curve.label.size() > 24; });
  script += is_wide ? "below center maxcols 1\n" : "outside right center\n";
  script += concat("set key spacing ", plot.curves.size() > 10 ? 1.1 : 1.6, '\n');
  script += "set title " + quoted(plot.title) + " noenhanced font ',16'\n";
  script += "set xlabel " + quoted(plot.x_label) + " noenhanced\n";
  script += "set ylabel " + quoted(plot.y_label) + " noenhanced\n";
  if (plot.is_log_x) {
    script += concat("set logscale x 2\nset format x '%.0f'\nset xrange [", number(x.least * 0.9),
                     ":", number(x.most * 1.1), "]\n");
    std::string ticks;
    for (double tick = std::exp2(std::ceil(std::log2(x.least))); tick <= x.most; tick *= 2)
      ticks.append(ticks.empty() ? "" : ", ").append(number(tick));
    script += "set xtics (" + ticks + ")\n";
  } else {
    const double room = x.most > x.least ? 0.02 * (x.most - x.least) : 1;
    script += concat("set format x '%.0f'\nset xrange [", number(x.least - room), ":",
                     number(x.most + room), "]\n");
  }
  if (log_y) {
    script += concat("set logscale y 10\nset format y '%g'\nset yrange [", number(y.least / 1.3),
                     ":", number(y.most * 1.3), "]\n");
    std::string labels;  // 1, 2, 5, 10, ...; over more than three decades the powers alone
    for (double power = std::pow(10, std::floor(std::log10(y.least / 1.3))); power < y.most * 1.3;
         power *= 10) {
      for (const double first : {1.0, 2.0, 5.0}) {
        if (first > 1 && y.most > 1000 * y.least) continue;
        labels.append(labels.empty() ? "" : ", ").append(number(first * power));
      }
    }
    script += "set ytics (" + labels + ")\n";
  } else {
    const double room = std::max(0.08 * (y.most - y.least), 0.02 * std::abs(y.most) + 1e-9);
    script += concat("set yrange [", number(y.least - room), ":", number(y.most + room), "]\n");
  }
  if (plot.marked_x > 0) {
    script +=
        concat("set arrow from first ", number(plot.marked_x), ", graph 0 to first ",
               number(plot.marked_x),
               ", graph 1 nohead dashtype (2,4) linecolor rgb '#666666' linewidth 1.5 back\n");
    script += concat(
        "set label ", quoted(plot.marked_label), " at first ", number(plot.marked_x),
        ", graph 0.96 left offset character 0.5,0 noenhanced textcolor rgb '#444444' font ',12'\n");
  }

  // Bands first, so that no line is under one.
  std::string command = "plot ";
  const auto colour_of = [&](size_t i) {
    const Curve& curve = plot.curves[i];
    const size_t style = curve.style < 0 ? i : static_cast<size_t>(curve.style);
    return curve.colour.empty() ? std::string(kColours[style % std::size(kColours)]) : curve.colour;
  };
  for (size_t i = 0; i < plot.curves.size(); ++i)
    script += band_of(plot.curves[i].points, concat("$band", i), colour_of(i),
                      log_y ? y.least / 10 : -std::numeric_limits<double>::infinity(), command);
  for (size_t i = 0; i < plot.curves.size(); ++i) {
    const Curve& curve = plot.curves[i];
    const std::string block = concat("$curve", i);
    script += block + " << END_OF_CURVE\n";
    bool has_errors = false;
    for (const PlotPoint& point : curve.points) {
      if (!std::isfinite(point.y)) {
        script += "\n";  // an empty line breaks the curve
        continue;
      }
      const double error = std::isfinite(point.error) ? point.error : 0;
      has_errors = has_errors || error > 0;
      const double low = log_y ? std::max(point.y - error, point.y * 1e-3) : point.y - error;
      script += concat(number(point.x), ' ', number(point.y), ' ', number(low), ' ',
                       number(point.y + error), '\n');
    }
    script += "END_OF_CURVE\n";
    const size_t style =
        (curve.style < 0 ? i : static_cast<size_t>(curve.style)) % std::size(kMarkers);
    const std::string colour = colour_of(i);
    if (i > 0) command += ", \\\n  ";
    if (has_errors)
      command += concat(block, " using 1:2:3:4 with yerrorbars pointtype 0 linecolor rgb '", colour,
                        "' linewidth 1 notitle, \\\n  ");
    command += concat(block, " using 1:2 with ", curve.has_markers ? "linespoints" : "lines",
                      " linecolor rgb '", colour, "' dashtype ", kDashes[style]);
    if (curve.has_markers) command += concat(" pointtype ", kMarkers[style], " pointsize 0.8");
    command +=
        concat(" linewidth ", curve.has_markers ? "2" : "1.5", " title ", quoted(curve.label));
  }
  return script + command + "\n";
}

}  // namespace

std::string ramp_colour(size_t i, size_t n) {
  // Those of viridis (Smith and van der Walt 2015), the last one darker, to be seen on white.
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

std::string draw_svg(const Plot& plot) { return run_gnuplot(script_of(plot), 860, 480); }

std::string draw_svg_or_say(const Plot& plot, std::string& why) {
  if (!can_plot()) {
    why = "gnuplot is not there; install gnuplot-nox";
    return "";
  }
  try {
    return draw_svg(plot);
  } catch (const Error& error) {
    why = error.what();
    return "";
  }
}

}  // namespace farfield::apps
