#include "apps/compare/plot.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "apps/eval/protocol.h"
#include "engine/base/error.h"

namespace farfield::compare {
namespace {

// The label of a row for output without a column for the head.
std::string picture_label(const ComparedRow& row) {
  return row.of.empty() ? row.label : row.label + ", " + row.of;
}

int64_t most_seeds(const Comparison& of) {
  int64_t most = 0;
  for (const ComparedRow& row : of.rows)
    for (const ComparedCell& cell : row.cells) most = std::max(most, cell.spread.n);
  return most;
}

plot::Plot with_axes(const Comparison& of) {
  plot::Plot plot;
  plot.x_label = "evaluation length (tokens)";
  if (const std::string unit = eval::length_unit_of(of.protocol); unit != "tokens") {
    plot.x_label = unit;
    plot.is_log_x = false;  // 0 is a length
  } else if (of.train_len > 0) {
    plot.marked_x = static_cast<double>(of.train_len);
    plot.marked_label = "training length";
  }
  return plot;
}

}  // namespace

plot::Plot comparison_plot(const Comparison& of) {
  plot::Plot plot = with_axes(of);
  plot.title = concat(of.protocol, ' ', of.quantity);
  plot.title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(plot.title[0])));
  plot.y_label = of.quantity;
  const bool has_bars = of.n_tests == 0 && of.pairs == Pairs::seeds;
  if (has_bars)
    plot.y_label += ", mean ± standard deviation";
  else if (const int64_t n = most_seeds(of); n > 1)
    plot.title += concat(", mean over ", n, " seeds");
  for (const ComparedRow& row : of.rows) {
    plot::Curve curve{picture_label(row)};
    for (size_t at = 0; at < of.lengths.size(); ++at)
      if (!eval::length_name(of.protocol, of.lengths[at]).empty())
        curve.points.push_back({static_cast<double>(of.lengths[at]), row.cells[at].spread.mean,
                                has_bars ? row.cells[at].spread.deviation : 0});
    plot.curves.push_back(std::move(curve));
  }
  return plot;
}

plot::Plot difference_plot(const Comparison& of) {
  plot::Plot plot = with_axes(of);
  plot.title = concat("Difference to ", of.reference_label, ", 95 % interval");
  plot.y_label = "difference in " + of.decided_on();
  plot.is_difference = true;
  plot.marked_x = 0;  // no mark: the plot beside it marks the training length
  for (size_t i = 0; i < of.rows.size(); ++i) {
    plot::Curve curve{
        .label = picture_label(of.rows[i]), .style = static_cast<int>(i), .has_line = false};
    for (size_t at = 0; at < of.lengths.size(); ++at) {
      const ComparedCell& cell = of.rows[i].cells[at];
      if (!cell.has_test || eval::length_name(of.protocol, of.lengths[at]).empty()) continue;
      const analysis::TTest& test = of.deciding(cell);
      if (test.is_defined())
        curve.points.push_back({static_cast<double>(of.lengths[at]), test.mean, test.half_width()});
    }
    if (!curve.points.empty()) plot.curves.push_back(std::move(curve));
  }
  return plot;
}

std::string comparison_svg(const Comparison& of) {
  const plot::Plot left = comparison_plot(of), right = difference_plot(of);
  if (!plot::has_points(right)) return plot::draw_svg(left);
  return plot::draw_svg(left, right, {.width = 980, .height = 430});
}

}  // namespace farfield::compare
