#include "apps/plot/axis.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "apps/cli/options.h"
#include "engine/base/error.h"

namespace farfield::plot {
namespace {

void append(std::string& ticks, const std::string& tick) {
  ticks.append(ticks.empty() ? "" : ", ").append(tick);
}

// Where half of an error bar is of ordinary size: a quarter of them are smaller.
double small_error(const Plot& plot) {
  std::vector<double> sizes;
  for (const Curve& curve : plot.curves)
    for (const PlotPoint& point : curve.points)
      if (std::isfinite(point.y)) {
        const double size = point.error > 0 ? point.error : std::abs(point.y);
        if (size > 0 && std::isfinite(size)) sizes.push_back(size);
      }
  if (sizes.empty()) return 0;
  std::sort(sizes.begin(), sizes.end());
  return sizes[sizes.size() / 4];
}

}  // namespace

void Range::add(double value) {
  least = std::min(least, value);
  most = std::max(most, value);
}

void Range::add(const Range& other) {
  least = std::min(least, other.least);
  most = std::max(most, other.most);
}

Range y_range_of(const Plot& plot) { return YAxis(plot).range(); }

bool has_log_y(const Plot& plot) { return YAxis(plot).is_log(); }

Range x_range(const Plot& plot) {
  Range x;
  for (const Curve& curve : plot.curves)
    for (const PlotPoint& point : curve.points)
      if (std::isfinite(point.y)) x.add(point.x);
  return x;
}

YAxis::YAxis(const Plot& plot) : is_whole_(plot.has_whole_y) {
  for (const Curve& curve : plot.curves)
    for (const PlotPoint& point : curve.points)
      if (std::isfinite(point.y)) range_.add(point.y);
  if (plot.is_difference) {
    constexpr double kMostSteps = 30;  // small errors that fit on a linear axis
    range_.add(0);
    for (const Curve& curve : plot.curves)
      for (const PlotPoint& point : curve.points)
        if (std::isfinite(point.y) && std::isfinite(point.error)) {
          range_.add(point.y - point.error);
          range_.add(point.y + point.error);
        }
    const double small = small_error(plot);
    if (std::max(-range_.least, range_.most) > kMostSteps * small) bend_ = small;
    return;
  }
  const bool is_given = !plot.y_range.empty();
  if (is_given)
    range_ = plot.y_range;
  else if (std::isfinite(plot.marked_y) && !range_.empty())
    range_.add(plot.marked_y);
  is_log_ = plot.may_log_y && range_.least > 0 && range_.most > 8 * range_.least;
  if (!is_log_ && !is_given) make_room_for_bands(plot);
}

// Shows bands and error bars whole, but none so wide that the lines are left with less than a third
// of the axis, unless they hardly rise or fall.
void YAxis::make_room_for_bands(const Plot& plot) {
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
  const double span = std::max(range_.most - range_.least, 0.15 * std::abs(range_.most));
  range_.least = std::min(range_.least, std::max(bands.least, range_.least - span));
  range_.most = std::max(range_.most, std::min(bands.most, range_.most + span));
}

double YAxis::place(double y) const { return bend_ > 0 ? std::asinh(y / bend_) : y; }

// 1, 2, 5, 10, ...; over more than three decades the powers alone.
std::string YAxis::log_ticks() const {
  std::string ticks;
  for (double power = std::pow(10, std::floor(std::log10(range_.least / 1.3)));
       power < range_.most * 1.3; power *= 10)
    for (const double first : {1.0, 2.0, 5.0})
      if (first == 1 || range_.most <= 1000 * range_.least)
        append(ticks, cli::number(first * power));
  return ticks;
}

// 0 and powers of ten on both sides of it.
std::string YAxis::bent_ticks() const {
  const double far = std::max(-range_.least, range_.most);
  std::string ticks = "'0' 0";
  for (double power = std::pow(10, std::floor(std::log10(bend_)) + 1); power <= far; power *= 10)
    for (const double value : {-power, power})
      if (value >= range_.least && value <= range_.most)
        append(ticks, concat('\'', cli::number(value), "' ", cli::number(place(value))));
  return ticks;
}

// At most about eight of them.
std::string YAxis::whole_ticks() const {
  for (double power = 1;; power *= 10)
    for (const double first : {1.0, 2.0, 5.0})
      if (range_.most - range_.least <= 8 * first * power) return cli::number(first * power);
}

std::string YAxis::commands() const {
  if (is_log_)
    return concat("set logscale y 10\nset format y '%g'\nset yrange [",
                  cli::number(range_.least / 1.3), ":", cli::number(range_.most * 1.3),
                  "]\nset ytics (", log_ticks(), ")\n");
  const double least = place(range_.least), most = place(range_.most);
  const double room = std::max(0.08 * (most - least),
                               bend_ > 0 ? 0.0 : 0.02 * std::max(std::abs(most), -least) + 1e-9);
  std::string text =
      concat("set yrange [", cli::number(least - room), ":", cli::number(most + room), "]\n");
  if (bend_ > 0) text += concat("set ytics (", bent_ticks(), ")\n");
  if (is_whole_) text += concat("set ytics ", whole_ticks(), "\n");
  return text;
}

std::string x_axis_commands(const Plot& plot, const Range& x, double letters) {
  if (!plot.is_log_x) {
    const double room = x.most > x.least ? 0.02 * (x.most - x.least) : 1;
    // On a short axis, whole numbers would name several marks alike.
    const char* const format = x.most - x.least < 10 ? "%g" : "%.0f";
    return concat("set format x '", format, "'\nset xrange [", cli::number(x.least - room), ":",
                  cli::number(x.most + room), "]\n");
  }
  const double room = plot.is_difference ? 1.3 : 1.1;
  const double first = std::ceil(std::log2(x.least)), last = std::floor(std::log2(x.most));
  // The longest numbers stand side by side at the end, with a gap of a letter and a half.
  const double octaves = std::log2(x.most / x.least) + 2 * std::log2(room);
  const double width = static_cast<double>(cli::number(std::exp2(last)).size()) + 1.5;
  const double step = std::max(1.0, std::ceil(width * octaves / letters));
  std::string ticks;
  for (double tick = first; tick <= last; tick += step) append(ticks, cli::number(std::exp2(tick)));
  return concat("set logscale x 2\nset format x '%.0f'\nset xrange [", cli::number(x.least / room),
                ":", cli::number(x.most * room), "]\nset xtics (", ticks, ")\n");
}

}  // namespace farfield::plot
