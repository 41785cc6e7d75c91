#include "apps/eval/results_plots.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "apps/eval/protocol.h"
#include "engine/base/error.h"

namespace farfield::eval {
namespace {

// The training length, if all runs have the same.
void mark_train_len(plot::Plot& plot, const std::vector<RunResult>& results) {
  const int64_t train_len = results.front().train_len;
  const bool is_one = std::all_of(results.begin(), results.end(),
                                  [&](const RunResult& r) { return r.train_len == train_len; });
  if (!is_one) return;
  plot.marked_x = static_cast<double>(train_len);
  plot.marked_label = "training length";
}

plot::Plot perplexity_plot(const std::vector<RunResult>& results,
                           const std::vector<std::string>& labels) {
  plot::Plot plot;
  plot.title = results.front().result.protocol + " perplexity";
  plot.title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(plot.title[0])));
  plot.x_label = "evaluation length (tokens)";
  plot.y_label = "perplexity ± standard error";
  mark_train_len(plot, results);
  for (size_t i = 0; i < results.size(); ++i) {
    plot::Curve curve{labels[i], {}};
    for (const LengthResult& cell : results[i].result.lengths)
      curve.points.push_back(
          {static_cast<double>(cell.length), cell.perplexity(), cell.perplexity_error()});
    std::sort(curve.points.begin(), curve.points.end(),
              [](const plot::PlotPoint& a, const plot::PlotPoint& b) { return a.x < b.x; });
    plot.curves.push_back(std::move(curve));
  }
  return plot;
}

// Name and length of each series that is not in a heat map and that some run has, in the order in
// which they come.
std::vector<std::pair<std::string, int64_t>> series_of(const std::vector<RunResult>& results) {
  std::vector<std::pair<std::string, int64_t>> all;
  const Protocol* const protocol = protocol_of(results.front().result);
  const std::string mapped = protocol == nullptr ? "" : protocol->mapped_series;
  for (const RunResult& r : results)
    for (const LengthResult& cell : r.result.lengths)
      for (const Series& series : cell.series)
        if (series.name != mapped &&
            std::find(all.begin(), all.end(), std::pair(series.name, cell.length)) == all.end())
          all.emplace_back(series.name, cell.length);
  return all;
}

// The series of this name that a picture shows: the series made for pictures, if there is one.
std::vector<const Series*> drawn(const LengthResult& cell, const std::string& name) {
  std::vector<const Series*> all, own;
  for (const Series& series : cell.series) {
    if (series.name != name) continue;
    (series.is_drawn_alone ? own : all).push_back(&series);
  }
  return own.empty() ? all : own;
}

plot::Plot series_plot(const std::vector<RunResult>& results,
                       const std::vector<std::string>& labels, const std::string& name,
                       int64_t length) {
  plot::Plot plot;
  plot.title = results.front().result.protocol + ": " + name;
  if (length > 0) plot.title += concat(", length ", length);
  plot.y_label = name;
  plot.is_log_x = false;
  mark_train_len(plot, results);
  for (size_t i = 0; i < results.size(); ++i) {
    for (const LengthResult& cell : results[i].result.lengths) {
      if (cell.length != length) continue;
      for (const Series* const one : drawn(cell, name)) {
        const Series& series = *one;
        plot.x_label = series.axis;
        plot.is_log_x = plot.is_log_x || series.is_log_x;
        plot.may_log_y = plot.may_log_y && series.may_log_y;
        plot::Curve curve{series.of.empty()     ? labels[i]
                          : results.size() == 1 ? series.of
                                                : labels[i] + ", " + series.of,
                          {}};
        curve.has_markers = series.x.size() <= 40 && !series.is_drawn_alone;
        for (size_t at = 0; at < series.x.size(); ++at) {
          if (series.is_log_x && series.x[at] <= 0) continue;
          plot::PlotPoint point{series.x[at], series.y[at]};
          if (at < series.low.size() && at < series.high.size()) {
            point.low = series.low[at];
            point.high = series.high[at];
            if (std::isfinite(point.low)) plot.band_label = "band: 95 % interval";
          }
          curve.points.push_back(point);
        }
        plot.curves.push_back(std::move(curve));
      }
    }
  }
  // Many curves are parts of one model, in order; so many distinct colours do not exist.
  for (size_t i = 0; plot.curves.size() > 8 && i < plot.curves.size(); ++i)
    plot.curves[i].colour = plot::ramp_colour(i, plot.curves.size());
  return plot;
}

// Whether heads of several models need a picture for each model.
bool is_crowded(const plot::Plot& plot, size_t n_run) {
  return plot.curves.size() > 12 && plot.curves.size() > n_run && n_run > 1;
}

}  // namespace

std::vector<NamedPlot> results_plots(const std::vector<RunResult>& results) {
  std::vector<NamedPlot> plots;
  if (results.empty()) return plots;
  const std::vector<std::string> labels = labels_of(results);
  if (has_perplexity(results)) plots.push_back({"", perplexity_plot(results, labels)});
  for (const auto& [name, length] : series_of(results)) {
    plot::Plot plot = series_plot(results, labels, name, length);
    if (is_crowded(plot, results.size())) continue;
    plots.push_back({concat('-', run::file_word(name), length > 0 ? concat('-', length) : ""),
                     std::move(plot)});
  }
  plots.erase(std::remove_if(plots.begin(), plots.end(),
                             [](const NamedPlot& p) { return !plot::has_points(p.plot); }),
              plots.end());
  return plots;
}

}  // namespace farfield::eval
