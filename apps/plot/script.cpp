#include "apps/plot/script.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/cli/options.h"
#include "apps/plot/axis.h"
#include "apps/plot/gnuplot.h"
#include "engine/base/error.h"

namespace farfield::plot {
namespace {

constexpr std::string_view kWhere = "plot";

constexpr size_t kMostPoints = 600;  // of a curve: a point or two for each pixel of the axis

// Colours that stay apart for the colour-blind (Okabe and Ito 2008), dark first.
constexpr const char* kColours[] = {"#000000", "#d55e00", "#0072b2", "#009e73",
                                    "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f"};
constexpr int kMarkers[] = {7, 9, 5, 13, 6, 8, 4, 12};
constexpr const char* kDashes[] = {"1",     "(10,4)", "(3,3)", "(12,3,3,3)",
                                   "(6,6)", "(16,4)", "(2,5)", "(8,3,2,3,2,3)"};

// As many points as can be seen; curves of a difference stand side by side at each x.
Plot prepared(Plot plot) {
  const Range x = x_range(plot);
  require<ConfigError>(
      (x.least > 0 || !plot.is_log_x) && std::isfinite(x.least) && std::isfinite(x.most), kWhere,
      "expected at least one point with a finite value", plot.is_log_x ? " and x > 0" : "");
  for (Curve& curve : plot.curves)
    if (curve.points.size() > kMostPoints)
      curve.points = thinned(curve.points, kMostPoints, plot.is_log_x);
  if (!plot.is_difference || !plot.is_log_x) return plot;
  const double n = static_cast<double>(plot.curves.size()), octaves = std::min(0.1, 0.6 / n);
  for (size_t i = 0; i < plot.curves.size(); ++i)
    for (PlotPoint& point : plot.curves[i].points)
      point.x *= std::exp2(octaves * (static_cast<double>(i) - (n - 1) / 2));
  return plot;
}

size_t style_of(const Plot& plot, size_t i) {
  return plot.curves[i].style < 0 ? i : static_cast<size_t>(plot.curves[i].style);
}

std::string colour_of(const Plot& plot, size_t i) {
  const std::string& own = plot.curves[i].colour;
  return own.empty() ? kColours[style_of(plot, i) % std::size(kColours)] : own;
}

// "with linespoints ...": line and markers of a curve.
std::string look_of(const Plot& plot, size_t i) {
  const Curve& curve = plot.curves[i];
  const size_t style = style_of(plot, i) % std::size(kMarkers);
  const bool has_markers = curve.has_markers && !curve.is_step;
  std::string look = concat("with ",
                            !curve.has_line ? "points"
                            : curve.is_step ? "steps"
                            : has_markers   ? "linespoints"
                                            : "lines",
                            " linecolor rgb '", colour_of(plot, i), '\'');
  if (curve.has_line)
    look += concat(" dashtype ", kDashes[style], " linewidth ", has_markers ? "2" : "1.5");
  if (has_markers) look += concat(" pointtype ", kMarkers[style], " pointsize 0.8");
  return look;
}

// The lines of data of a band, an empty one where it is interrupted; "" when there is none.
std::string band_of(const Curve& curve, const YAxis& axis) {
  std::string lines;
  bool is_open = false;
  for (const PlotPoint& point : curve.points) {
    if (std::isfinite(point.y) && std::isfinite(point.low) && std::isfinite(point.high)) {
      lines += concat(cli::number(point.x), ' ',
                      cli::number(axis.place(std::max(point.low, axis.floor_of(point.y)))), ' ',
                      cli::number(axis.place(point.high)), '\n');
      is_open = true;
    } else if (is_open) {
      lines += "\n";
      is_open = false;
    }
  }
  return lines;
}

// The lines of data of a curve: x, y, and the ends of its error bar.
std::string points_of(const Curve& curve, const YAxis& axis, bool& has_errors) {
  std::string lines;
  for (const PlotPoint& point : curve.points) {
    if (!std::isfinite(point.y)) {
      lines += "\n";  // an empty line breaks the curve
      continue;
    }
    const double error = std::isfinite(point.error) ? point.error : 0;
    has_errors = has_errors || error > 0;
    lines += concat(cli::number(point.x), ' ', cli::number(axis.place(point.y)), ' ',
                    cli::number(axis.place(std::max(point.y - error, axis.floor_of(point.y)))), ' ',
                    cli::number(axis.place(point.y + error)), '\n');
  }
  return lines;
}

// A box in the key alone.
std::string band_in_key(const Plot& plot) {
  return "NaN with boxes fillcolor rgb '#7f7f7f' fillstyle transparent solid 0.3 noborder title " +
         quoted(plot.band_label);
}

bool is_in_band(const PlotPoint& point) {
  return std::isfinite(point.y) && std::isfinite(point.low) && std::isfinite(point.high);
}

bool is_banded(const Curve& curve) {
  return std::any_of(curve.points.begin(), curve.points.end(), is_in_band);
}

bool has_band(const Plot& plot) {
  return std::any_of(plot.curves.begin(), plot.curves.end(), is_banded);
}

// The plot command, behind the data that it names; `prefix` tells the data of two panels apart.
std::string curves_of(const Plot& plot, const YAxis& axis, const std::string& prefix) {
  std::string script, command;
  const auto draw = [&](const std::string& what) {
    command.append(command.empty() ? "plot " : ", \\\n  ").append(what);
  };
  const auto declare = [&](const std::string& block, const std::string& lines) {
    script += block + " << END_OF_DATA\n" + lines + "END_OF_DATA\n";
  };
  if (plot.is_difference) draw("0 with lines linecolor rgb '#444444' linewidth 1 notitle");
  // Bands first, so that no line is under one. Many lie on each other, and are lighter.
  const auto n_bands = std::count_if(plot.curves.begin(), plot.curves.end(), is_banded);
  const char* const opacity = n_bands > 3 ? "0.10" : "0.18";
  for (size_t i = 0; i < plot.curves.size(); ++i) {
    const std::string lines = band_of(plot.curves[i], axis), block = concat("$band", prefix, i);
    if (lines.empty()) continue;
    declare(block, lines);
    draw(concat(block, " using 1:2:3 with filledcurves fillcolor rgb '", colour_of(plot, i),
                "' fillstyle transparent solid ", opacity, " noborder notitle"));
  }
  for (size_t i = 0; i < plot.curves.size(); ++i) {
    const Curve& curve = plot.curves[i];
    const std::string block = concat("$curve", prefix, i), colour = colour_of(plot, i);
    bool has_errors = false;
    declare(block, points_of(curve, axis, has_errors));
    if (has_errors)
      draw(concat(block, " using 1:2:3:4 with yerrorbars pointtype 0 linecolor rgb '", colour,
                  "' linewidth ", plot.is_difference ? "1.5" : "1", " notitle"));
    draw(concat(block, " using 1:2 ", look_of(plot, i), " title ", quoted(curve.label)));
  }
  if (has_band(plot) && !plot.band_label.empty()) draw(band_in_key(plot));
  return script + command + "\n";
}

// Dotted lines at marked places, each with its label: beside a vertical line on the side with more
// room, at its top, or at its bottom where the label of a horizontal line stands at the top.
std::string marks_of(const Plot& plot, const YAxis& axis, const Range& x, int font) {
  constexpr const char* kLine =
      " nohead dashtype (2,4) linecolor rgb '#666666' linewidth 1.5 back\n";
  const std::string text = concat(" noenhanced textcolor rgb '#444444' font ',", font, "'\n");
  std::string script;
  if (plot.marked_x > 0) {
    const std::string at = cli::number(plot.marked_x);
    const auto place = [&](double value) { return plot.is_log_x ? std::log(value) : value; };
    const bool is_far =
        place(plot.marked_x) - place(x.least) > 0.6 * (place(x.most) - place(x.least));
    script +=
        concat("set arrow from first ", at, ", graph 0 to first ", at, ", graph 1", kLine,
               "set label ", quoted(plot.marked_label), " at first ", at,
               std::isfinite(plot.marked_y) ? ", graph 0.05 " : ", graph 0.96 ",
               is_far ? "right offset character -0.5,0" : "left offset character 0.5,0", text);
  }
  if (std::isfinite(plot.marked_y)) {
    const std::string at = cli::number(axis.place(plot.marked_y));
    script += concat("set arrow from graph 0, first ", at, " to graph 1, first ", at, kLine,
                     "set label ", quoted(plot.marked_y_label), " at graph 0, first ", at,
                     " left offset character 0.5,-0.6", text);
  }
  return script;
}

// Everything but the key and the place. `letters`: the length of the x axis, in letters.
std::string panel(const Plot& given, const PlotSize& size, double letters,
                  const std::string& prefix) {
  const Plot plot = prepared(given);
  const YAxis axis(plot);
  std::string script =
      "set border 3 linewidth 1 linecolor rgb '#444444'\n"
      "set tics nomirror out scale 0.6\n"
      "set grid ytics linecolor rgb '#dddddd' linetype 1 linewidth 1\n"
      "set datafile missing '?'\n";
  if (size.has_title && !plot.title.empty())
    script += concat("set title ", quoted(plot.title), " noenhanced font ',", size.font + 2, "'\n");
  script += "set xlabel " + quoted(plot.x_label) + " noenhanced\n";
  script += "set ylabel " + quoted(plot.y_label) + " noenhanced\n";
  script += x_axis_commands(plot, x_range(given), letters) + axis.commands();
  script += marks_of(plot, axis, x_range(given), size.font - 1);
  return script + curves_of(plot, axis, prefix);
}

// A key below the plot: the number of entries side by side, and its height.
struct KeyBelow {
  size_t columns = 1;
  int height = 0;
};

bool is_drawn(const Curve& curve) {
  return std::any_of(curve.points.begin(), curve.points.end(),
                     [](const PlotPoint& point) { return std::isfinite(point.y); });
}

// Entries of the key: gnuplot leaves out curves without points.
size_t n_in_key(const Plot& plot) {
  const auto n = std::count_if(plot.curves.begin(), plot.curves.end(), is_drawn);
  return static_cast<size_t>(n) + (plot.band_label.empty() ? 0 : 1);
}

// A letter is about 0.6 of the size of the text wide.
double letter_of(const PlotSize& size) { return 0.6 * size.font; }

// On both sides of the axes, in letters: numbers and label of y, and half of the last number of x.
constexpr double kMargin = 10;

// The width of an entry: sample and gaps are as wide as 8 letters.
double key_letters(const Plot& plot) {
  size_t longest = plot.band_label.size();
  for (const Curve& curve : plot.curves) longest = std::max(longest, curve.label.size());
  return static_cast<double>(longest + 8);
}

KeyBelow key_below(const Plot& plot, const PlotSize& size) {
  // The key is centred below the axes, which begin 7 letters from the edge.
  const double letter = letter_of(size), width = letter * key_letters(plot);
  const size_t n = n_in_key(plot);
  KeyBelow key;
  key.columns = std::clamp<size_t>(static_cast<size_t>((size.width - 7 * letter) / width), 1,
                                   std::max(n, size_t{1}));
  key.height = static_cast<int>(std::lround(1.45 * size.font)) *
               static_cast<int>((n + key.columns - 1) / key.columns);
  return key;
}

bool has_long_label(const Plot& plot) {
  return plot.band_label.size() > 24 ||
         std::any_of(plot.curves.begin(), plot.curves.end(),
                     [](const Curve& curve) { return curve.label.size() > 24; });
}

constexpr const char* kKey = "set key noenhanced Left reverse samplen 3 ";

}  // namespace

PlotScript plot_script(const Plot& plot, const PlotSize& size) {
  constexpr int kNarrow = 600;
  const double letters = size.width / letter_of(size) - kMargin;
  if (size.width < kNarrow || has_long_label(plot)) {
    const KeyBelow key = key_below(plot, size);
    return {concat(kKey, "below center horizontal maxcols ", key.columns, " spacing 1.2\n",
                   panel(plot, size, letters, "")),
            size.height + key.height};
  }
  // So many lines that all stand in one column.
  const size_t n = n_in_key(plot);
  return {concat(kKey, "outside right center spacing ",
                 n > 10  ? 1.1
                 : n > 7 ? 1.3
                         : 1.6,
                 '\n', panel(plot, size, letters - key_letters(plot), "")),
          size.height};
}

PlotScript plot_script(const Plot& left, const Plot& right, const PlotSize& size) {
  const KeyBelow key = key_below(left, size);
  const int height = size.height + key.height;
  const double line_x = 1.0 * size.font / size.width, line_y = 1.0 * size.font / height;
  const double bottom = 1.0 * key.height / height + 6.2 * line_y;
  const double letters = 0.5 * size.width / letter_of(size) - kMargin - 5;
  std::string script = "set multiplot\n";
  const auto place = [&](double from, double to, double low, double high) {
    script += concat("set lmargin at screen ", cli::number(from), "\nset rmargin at screen ",
                     cli::number(to), "\nset bmargin at screen ", cli::number(low),
                     "\nset tmargin at screen ", cli::number(high), '\n');
  };
  place(7.5 * line_x, 0.5 - 1.5 * line_x, bottom, 1 - 3.5 * line_y);
  script += concat("unset key\n", panel(left, size, letters, "_left"), "reset\n");
  place(0.5 + 7.5 * line_x, 1 - 1.5 * line_x, bottom, 1 - 3.5 * line_y);
  script += concat("unset key\n", panel(right, size, letters, "_right"), "reset\n");
  // The key is a third one, without axes, as wide as both: gnuplot makes it no wider than its plot.
  place(0, 1, 0.5 * line_y, bottom - 5.2 * line_y);
  script += concat(kKey, "center center horizontal maxcols ", key.columns,
                   " spacing 1.2\nunset border\nunset tics\n");
  std::string before = "plot [0:1] [0:1] ";
  for (size_t i = 0; i < left.curves.size(); ++i)
    if (is_drawn(left.curves[i]))
      script += concat(std::exchange(before, ", \\\n  "), "NaN ", look_of(left, i), " title ",
                       quoted(left.curves[i].label));
  if (!left.band_label.empty() && has_band(left)) script += ", \\\n  " + band_in_key(left);
  return {script + "\nunset multiplot\n", height};
}

}  // namespace farfield::plot
