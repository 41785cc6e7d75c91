// figures_of() of sections.h.

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "apps/sweep/sections.h"
#include "engine/base/error.h"

namespace farfield::sweep {
namespace {

// An encoding looks the same in every figure.
constexpr std::array kLooks = {"alibi",      "kerple_log", "sandwich",     "rope",
                               "sinusoidal", "t5",         "kerple_power", "sandwich_smoothed"};

// Beyond this many there is nothing to tell apart by colours and dashes: a ramp of the swept value.
constexpr size_t kMostLooks = kLooks.size();

std::string on(const Measured& m) { return concat(" on ", m.dataset().corpus); }

// The lines of a figure, without points. An arm has the style of its encoding, unless an earlier
// arm has it; then, and without a style of its own, it takes an unused style.
std::vector<plot::Curve> curves_of(const std::vector<const PlannedArm*>& arms) {
  std::vector<plot::Curve> curves;
  for (size_t i = 0; i < arms.size(); ++i) curves.push_back(curve_of(*arms[i], i, arms.size()));
  std::set<int> taken;
  std::vector<plot::Curve*> others;
  for (plot::Curve& curve : curves) {
    if (!curve.colour.empty()) continue;
    const bool has_look = curve.style < static_cast<int>(kMostLooks);
    if (!has_look || !taken.insert(curve.style).second) others.push_back(&curve);
  }
  int free = 0;
  for (plot::Curve* const curve : others) {
    while (taken.count(free) != 0) ++free;
    curve->style = free++;
  }
  return curves;
}

plot::Plot by_length(const Measured& m, const Output& output,
                     const std::vector<const PlannedArm*>& arms) {
  plot::Plot plot;
  plot.x_label = "evaluation length (tokens)";
  plot.y_label = output.quantity;
  const double train_len = arms.empty() ? 0 : arms.front()->arm.train_len;
  if (std::all_of(arms.begin(), arms.end(),
                  [&](const PlannedArm* arm) { return arm->arm.train_len == train_len; })) {
    plot.marked_x = static_cast<double>(tokens_of(m.scale(), train_len));
    plot.marked_label = "training length";
  }
  for (const Measure& measure : m.experiment().measures) {
    if (measure.key != output.measure) continue;
    plot.curves = curves_of(arms);
    for (size_t i = 0; i < arms.size(); ++i) {
      for (const double length : measure.lengths)
        if (const double y = m.value(*arms[i], output.measure, output.quantity, length);
            std::isfinite(y))
          plot.curves[i].points.push_back(
              {.x = static_cast<double>(tokens_of(m.scale(), length) + measure.offset), .y = y});
    }
  }
  return plot;
}

// The curves of a quantity that an arm has: "kernel h3" is one of several of the series "kernel".
std::vector<std::string> names_of(const Measured& m, const Output& output, const PlannedArm& arm) {
  std::vector<std::string> names = m.series_names(arm, output.measure, output.length);
  std::erase_if(names, [&](const std::string& name) {
    return name != output.quantity && name.rfind(output.quantity + ' ', 0) != 0;
  });
  return names;
}

// The points of a series that are on the axis, and where it crosses the end of it.
std::vector<plot::PlotPoint> points_of(const Measured& m, const Output& output,
                                       const eval::Series& series) {
  const double end =
      output.most_x > 0 ? static_cast<double>(tokens_of(m.scale(), output.most_x)) : INFINITY;
  std::vector<plot::PlotPoint> points;
  for (size_t k = 0; k < series.y.size(); ++k) {
    const double x = series.x[k], y = series.y[k];
    if (x > end) {
      if (k > 0 && series.x[k - 1] < end) points.push_back({.x = end, .y = value_at(series, end)});
      break;
    }
    if (!output.is_log_x || x > 0) points.push_back({.x = x, .y = y});
  }
  return points;
}

plot::Plot of_series(const Measured& m, const Output& output,
                     const std::vector<const PlannedArm*>& arms) {
  plot::Plot plot;
  plot.y_label = output.quantity;
  for (const Measure& measure : m.experiment().measures) {
    if (measure.key != output.measure || measure.protocol != "position-wise") continue;
    plot.marked_x = static_cast<double>(tokens_of(m.scale(), 1));
    plot.marked_label = "training length";
  }
  const std::vector<plot::Curve> looks = curves_of(arms);
  for (size_t i = 0; i < arms.size(); ++i) {
    const std::vector<std::string> names = names_of(m, output, *arms[i]);
    for (size_t part = 0; part < names.size(); ++part) {
      const std::string& name = names[part];
      const eval::Series series = m.series(*arms[i], output.measure, name, output.length);
      plot::Curve curve = looks[i];
      curve.has_markers = false;
      curve.label += name.substr(output.quantity.size());
      if (names.size() > 1 && arms.size() == 1) {  // the heads of one model, in order
        curve.style = static_cast<int>(part);
        curve.colour = plot::ramp_colour(part, names.size());
      }
      plot.x_label = series.axis;
      curve.points = points_of(m, output, series);
      plot.curves.push_back(std::move(curve));
    }
  }
  return plot;
}

}  // namespace

plot::Curve curve_of(const PlannedArm& arm, size_t place, size_t n) {
  plot::Curve curve = {.label = arm.label()};
  const auto look = std::find(kLooks.begin(), kLooks.end(), arm.arm.encoding);
  if (!arm.arm.values.empty() || n > kMostLooks) {
    curve.style = static_cast<int>(place);
    curve.colour = plot::ramp_colour(place, n);
  } else if (look != kLooks.end()) {
    curve.style = static_cast<int>(look - kLooks.begin());
  } else {
    curve.style = static_cast<int>(kMostLooks + place);
  }
  return curve;
}

std::vector<ReportFigure> figures_of(const Measured& m, const Output& output) {
  if (output.form == Output::Form::rows) return {};
  std::vector<const PlannedArm*> arms;
  std::vector<std::string> groups;
  for (const PlannedArm& arm : m.arms()) {
    if (!output.shows(arm.arm)) continue;
    arms.push_back(&arm);
    if (std::find(groups.begin(), groups.end(), arm.arm.group) == groups.end())
      groups.push_back(arm.arm.group);
  }
  // Many arms are drawn in a picture for each of their groups.
  const bool is_split = arms.size() > kMostLooks && groups.size() > 1;
  if (!is_split) groups = {""};
  std::vector<ReportFigure> figures;
  for (const std::string& group : groups) {
    std::vector<const PlannedArm*> some;
    for (const PlannedArm* arm : arms)
      if (!is_split || arm->arm.group == group) some.push_back(arm);
    plot::Plot plot = output.form == Output::Form::series ? of_series(m, output, some)
                                                          : by_length(m, output, some);
    plot.is_log_x = output.is_log_x;
    plot.may_log_y = output.may_log_y;
    plot.title = concat(output.caption.empty() ? output.quantity : output.caption,
                        is_split ? ", " : "", is_split ? group : "", on(m));
    figures.push_back({plot.title, std::move(plot)});
  }
  return figures;
}

}  // namespace farfield::sweep
