// figures_of() of sections.h.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "apps/analysis/spread.h"
#include "apps/cli/lists.h"
#include "apps/sweep/arms.h"
#include "apps/sweep/sections.h"
#include "apps/sweep/tasks.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

// Beyond this many there is nothing to tell apart by colours and dashes: a ramp of the swept value.
constexpr size_t kMostLooks = kLooks.size();

constexpr const char* kTrainingLength = "training length";

// Of a second panel, as sections.h has it.
constexpr double kNear = 1.15, kLeastShare = 0.25;
// Of a figure's own range in a common one.
constexpr double kLeastFill = 0.5;

std::string on(const Measured& m, const std::vector<const PlannedArm*>& arms) {
  return concat(" on ", m.dataset().is_of_tasks ? task_names(arms) : m.dataset().corpus);
}

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

// The mean of the seeds and its band, at x = 0.
plot::PlotPoint point_of(const std::vector<double>& values) {
  plot::PlotPoint point = {.y = analysis::mean_of(values)};
  if (values.size() < 2 || !std::isfinite(point.y)) return point;
  const double deviation = analysis::deviation_of(values);
  point.low = point.y - deviation;
  point.high = point.y + deviation;
  return point;
}

plot::Plot by_length(const Measured& m, const Output& output,
                     const std::vector<const PlannedArm*>& arms) {
  plot::Plot plot;
  plot.x_label = m.dataset().is_of_tasks ? "length of the task" : "evaluation length (tokens)";
  plot.y_label = output.quantity;
  const double train_len = arms.empty() ? 0 : arms.front()->arm.train_len;
  if (std::all_of(arms.begin(), arms.end(),
                  [&](const PlannedArm* arm) { return arm->arm.train_len == train_len; })) {
    plot.marked_x = static_cast<double>(m.plan().tokens(train_len));
    plot.marked_label = kTrainingLength;
  }
  for (const Measure& measure : m.experiment().measures) {
    if (measure.key != output.measure) continue;
    plot.curves = curves_of(arms);
    for (size_t i = 0; i < arms.size(); ++i) {
      for (const double length : measure.lengths) {
        std::vector<double> values;
        for (const SeedNumber& s : m.seeds(*arms[i], output.measure, output.quantity, length))
          values.push_back(s.value);
        plot::PlotPoint point = point_of(values);
        point.x = static_cast<double>(m.plan().tokens(length) + measure.offset);
        if (std::isfinite(point.y)) plot.curves[i].points.push_back(point);
      }
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

// The points of a series that are on the axis, and where it crosses the end of it. With the series
// of several seeds each has a band.
std::vector<plot::PlotPoint> points_of(const Measured& m, const Output& output,
                                       const eval::Series& series,
                                       const std::vector<eval::Series>& seeds) {
  const double end =
      output.most_x > 0 ? static_cast<double>(m.plan().tokens(output.most_x)) : INFINITY;
  const auto at = [&](const auto& y_of, double x) {
    std::vector<double> values;
    for (const eval::Series& seed : seeds) values.push_back(y_of(seed));
    plot::PlotPoint point = point_of(values);
    point.x = x;
    point.y = y_of(series);
    return point;
  };
  std::vector<plot::PlotPoint> points;
  for (size_t k = 0; k < series.y.size(); ++k) {
    const double x = series.x[k];
    if (x > end) {
      if (k > 0 && series.x[k - 1] < end)
        points.push_back(at(
            [&](const eval::Series& s) { return output.is_count ? s.y[k - 1] : value_at(s, end); },
            end));
      break;
    }
    if (!output.is_log_x || x > 0)
      points.push_back(at([&](const eval::Series& s) { return s.y[k]; }, x));
  }
  return points;
}

plot::Plot of_series(const Measured& m, const Output& output,
                     const std::vector<const PlannedArm*>& arms) {
  plot::Plot plot;
  plot.y_label = output.quantity;
  for (const Measure& measure : m.experiment().measures) {
    if (measure.key != output.measure || measure.protocol != "position-wise") continue;
    plot.marked_x = static_cast<double>(m.plan().tokens(1));
    plot.marked_label = kTrainingLength;
  }
  plot.marked_y = output.marked_y;
  plot.marked_y_label = output.marked_y_label;
  plot.has_whole_y = output.is_count;
  const std::vector<plot::Curve> looks = curves_of(arms);
  for (size_t i = 0; i < arms.size(); ++i) {
    const std::vector<std::string> names = names_of(m, output, *arms[i]);
    for (size_t part = 0; part < names.size(); ++part) {
      const std::string& name = names[part];
      const eval::Series series = m.series(*arms[i], output.measure, name, output.length);
      plot::Curve curve = looks[i];
      curve.has_markers = false;
      curve.is_step = output.is_count;
      curve.label += name.substr(output.quantity.size());
      if (names.size() > 1 && arms.size() == 1) {  // the heads of one model, in order
        curve.style = static_cast<int>(part);
        curve.colour = plot::ramp_colour(part, names.size());
      }
      plot.x_label = series.axis;
      if (output.marks_last_length && !series.x.empty()) {
        plot.marked_x = series.x.back() - static_cast<double>(m.plan().tokens(1));
        plot.marked_label = "T - L: last L inputs";
      }
      curve.points = points_of(m, output, series,
                               m.seed_series(*arms[i], output.measure, name, output.length));
      plot.curves.push_back(std::move(curve));
    }
  }
  return plot;
}

bool has_band(const plot::Curve& curve) {
  return std::any_of(curve.points.begin(), curve.points.end(),
                     [](const plot::PlotPoint& point) { return std::isfinite(point.low); });
}

void remove_band(plot::Curve& curve) {
  for (plot::PlotPoint& point : curve.points) point.low = point.high = std::nan("");
}

// More bands than styles hide each other.
void name_bands(ReportFigure& figure) {
  plot::Plot& plot = figure.plot;
  const auto n = std::count_if(plot.curves.begin(), plot.curves.end(), has_band);
  if (n > static_cast<int64_t>(kMostLooks)) {
    for (plot::Curve& curve : plot.curves) remove_band(curve);
  } else if (n > 0) {
    plot.band_label = "band: ± SD";
    figure.notes.emplace_back("Bands: mean ± standard deviation over the seeds.");
  }
}

// The curve from the training length on: its last point up to there, and all behind it.
plot::Curve from_training_length(const plot::Curve& curve, double train_len) {
  plot::Curve rest = curve;
  rest.points.clear();
  for (const plot::PlotPoint& point : curve.points) {
    if (point.x <= train_len) rest.points.clear();
    rest.points.push_back(point);
  }
  return rest;
}

bool stays_near(const plot::Curve& rest) {
  return !rest.points.empty() &&
         std::all_of(rest.points.begin(), rest.points.end(), [&](const plot::PlotPoint& point) {
           return point.y <= kNear * rest.points.front().y;
         });
}

// The length of a range on the axis of y.
double span(const plot::Range& range, bool is_log) {
  return is_log ? std::log(range.most / range.least) : range.most - range.least;
}

// The second panel; without points where the first tells the curves apart.
plot::Plot near_panel(const plot::Plot& whole) {
  plot::Plot stay;
  stay.may_log_y = false;
  size_t n_drawn = 0;
  plot::Plot near = whole;
  for (plot::Curve& curve : near.curves) {
    const plot::Curve rest = from_training_length(curve, whole.marked_x);
    n_drawn += rest.points.empty() ? 0 : 1;
    if (stays_near(rest))
      stay.curves.push_back(rest);
    else
      remove_band(curve);  // its lower end alone would stand here
  }
  if (stay.curves.size() < 2 || stay.curves.size() == n_drawn) return {};
  plot::Range range = plot::y_range_of(stay);
  for (const plot::Curve& curve : near.curves)  // one that starts lower is seen until it explodes
    if (const plot::Curve rest = from_training_length(curve, whole.marked_x);
        !rest.points.empty() && rest.points.front().y < range.most)
      range.add(rest.points.front().y);
  const bool is_log = plot::has_log_y(whole);
  if (span(range, is_log) >= kLeastShare * span(plot::y_range_of(whole), is_log)) return {};
  near.y_range = range;
  near.title = "curves that rise by at most 15 % beyond L";
  return near;
}

// Gives plots of one quantity common ranges.
void share_among(std::vector<plot::Plot*> plots) {
  while (plots.size() > 1) {
    std::vector<plot::Plot*> joined, left;
    std::vector<plot::Range> own;
    plot::Range all;
    for (plot::Plot* const plot : plots) {
      const plot::Range range = plot::y_range_of(*plot);
      plot::Range together = all;
      together.add(range);
      own.push_back(range);
      const bool is_log =
          plot->may_log_y && together.least > 0 && together.most > 8 * together.least;
      if (std::all_of(own.begin(), own.end(), [&](const plot::Range& one) {
            return span(one, is_log) >= kLeastFill * span(together, is_log);
          })) {
        joined.push_back(plot);
        all = together;
      } else {
        left.push_back(plot);
        own.pop_back();
      }
    }
    if (joined.size() > 1)
      for (plot::Plot* const plot : joined) plot->y_range = all;
    plots = std::move(left);
  }
}

}  // namespace

void share_y_ranges(std::vector<ReportFigure>& figures) {
  std::map<std::string, std::vector<plot::Plot*>> whole, near;
  for (ReportFigure& figure : figures) {
    if (figure.quantity.empty()) continue;
    if (plot::has_points(figure.plot)) whole[figure.quantity].push_back(&figure.plot);
    if (plot::has_points(figure.near)) near[figure.quantity].push_back(&figure.near);
  }
  for (auto* const panels : {&whole, &near})
    for (auto& [quantity, plots] : *panels) share_among(plots);
  for (ReportFigure& figure : figures)
    if (!figure.quantity.empty() && !figure.plot.y_range.empty())
      figure.notes.emplace_back("Figures of this quantity share one scale of y.");
}

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

std::vector<ReportFigure> figures_of(const Measured& all, const Output& output) {
  if (output.form == Output::Form::rows) return {};
  const std::vector<const PlannedArm*> arms = all.shown(output);
  std::vector<std::string> groups;
  for (const PlannedArm* arm : arms) cli::add_new(groups, arm->arm.group);
  // Many arms are drawn in a picture for each of their groups.
  const bool is_split = arms.size() > kMostLooks && groups.size() > 1;
  if (!is_split) groups = {""};
  std::vector<ReportFigure> figures;
  for (const std::string& group : groups) {
    std::vector<const PlannedArm*> some;
    for (const PlannedArm* arm : arms)
      if (!is_split || arm->arm.group == group) some.push_back(arm);
    // Curves that are compared by eye are means over the same seeds.
    const Measured m = all.of_shared_seeds(some, output.measure);
    plot::Plot plot = output.form == Output::Form::series ? of_series(m, output, some)
                                                          : by_length(m, output, some);
    plot.is_log_x = output.is_log_x;
    plot.may_log_y = output.may_log_y;
    plot.title = concat(output.caption.empty() ? output.quantity : output.caption,
                        is_split ? ", " : "", is_split ? group : "", on(m, some));
    ReportFigure& figure = figures.emplace_back();
    figure.caption = plot.title;
    if (std::any_of(some.begin(), some.end(), [&](const PlannedArm* arm) {
          return all.n_seed(*arm, output.measure) > m.n_seed(*arm, output.measure);
        }))
      figure.notes.push_back(
          concat("Of the seeds that all of its models have: ", joined(m.seeds_used()), '.'));
    figure.quantity =
        concat(output.measure, ' ', output.quantity, ' ', shortest(output.length), ' ', group);
    const bool has_length = plot.may_log_y && plot.marked_label == kTrainingLength;
    figure.plot = std::move(plot);
    name_bands(figure);
    if (has_length) figure.near = near_panel(figure.plot);
    if (plot::has_points(figure.near))
      figure.notes.emplace_back(
          "Second panel: the range of the curves that rise by at most 15 % above their value at "
          "the training length.");
  }
  return figures;
}

}  // namespace farfield::sweep
