#include "apps/plot/heat_map.h"

#include <algorithm>
#include <cmath>

#include "apps/cli/options.h"
#include "apps/plot/gnuplot.h"
#include "apps/plot/palette.h"
#include "apps/plot/svg.h"
#include "engine/base/error.h"

namespace farfield::plot {
namespace {

constexpr std::string_view kWhere = "plot";

void check(const HeatMap& map) {
  require<ConfigError>(
      !map.rows.empty() && !map.values.empty() && map.values.size() % map.rows.size() == 0, kWhere,
      "expected as many values in each of ", map.rows.size(), " rows, got ", map.values.size());
  require<ConfigError>(std::any_of(map.values.begin(), map.values.end(),
                                   [](double value) { return std::isfinite(value); }),
                       kWhere, "expected at least one cell with a finite value");
}

// Lines of data: the middle of a cell, its edges, its value.
std::string cells_of(const HeatMap& map) {
  const size_t n_column = map.values.size() / map.rows.size();
  const double width = (map.x_most - map.x_least) / static_cast<double>(n_column);
  std::string lines;
  for (size_t i = 0; i < map.values.size(); ++i) {
    if (!std::isfinite(map.values[i])) continue;
    const double x = map.x_least + width * static_cast<double>(i % n_column);
    const auto y = static_cast<double>(i / n_column);
    for (const double value : {x + width / 2, y, x, x + width, y - 0.5, y + 0.5, map.values[i]})
      lines += cli::number(value) + ' ';
    lines += '\n';
  }
  return lines;
}

std::string row_ticks(const HeatMap& map) {
  std::string ticks;
  for (size_t i = 0; i < map.rows.size(); ++i)
    ticks += concat(i == 0 ? "" : ", ", quoted(map.rows[i]), ' ', i);
  return "set ytics (" + ticks + ") noenhanced\n";
}

}  // namespace

std::string draw_svg(const HeatMap& map) {
  constexpr int kFrame = 130, kRow = 36;  // pixels
  check(map);
  const auto n_row = static_cast<int>(map.rows.size());
  std::string script = "set tics nomirror out\nunset key\n";
  script += "set title " + quoted(map.title) + " noenhanced font ',16'\n";
  script += "set xlabel " + quoted(map.x_label) + " noenhanced\n";
  script += "set ylabel " + quoted(map.y_label) + " noenhanced\n";
  script += "set cblabel " + quoted(map.value_label) + " noenhanced\n";
  script += palette_command() + row_ticks(map);
  script += concat("set xrange [", cli::number(map.x_least), ':', cli::number(map.x_most),
                   "]\nset yrange [-0.5:", cli::number(n_row - 0.5), "]\nset cbrange [",
                   cli::number(map.least), ':', cli::number(map.most),
                   "]\n$cells << END_OF_CELLS\n", cells_of(map), "END_OF_CELLS\n",
                   "plot $cells using 1:2:3:4:5:6:7 with boxxyerror fillcolor palette "
                   "fillstyle solid noborder\n");
  const std::string svg = run_gnuplot(script, 640, std::clamp(kFrame + kRow * n_row, 260, 900));
  return finished_svg(svg, {map.title,
                            concat(map.value_label, " by ", map.x_label, " and ", map.y_label, ", ",
                                   n_row, n_row == 1 ? " row" : " rows", "; the darker the lower"),
                            true});
}

}  // namespace farfield::plot
