#include "apps/results.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "apps/cli.h"
#include "apps/csv.h"
#include "apps/text_table.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"

namespace farfield::apps {
namespace {

// What tells the runs of a table apart: the encoding, that of the training if it was another, and
// the folder where that is not enough.
std::vector<std::string> labels_of(const std::vector<RunResult>& results) {
  const auto name_of = [](const RunResult& r) {
    return is_changed(r) ? concat(r.posenc, " (trained: ", r.trained_posenc, ")") : r.posenc;
  };
  std::vector<std::string> labels;
  for (const RunResult& r : results) {
    const std::string name = name_of(r);
    const auto same = std::count_if(results.begin(), results.end(),
                                    [&](const RunResult& other) { return name_of(other) == name; });
    labels.push_back(same > 1 ? name + " (" + r.run + ")" : name);
  }
  return labels;
}

}  // namespace

bool is_changed(const RunResult& r) { return r.posenc != r.trained_posenc; }

std::string file_stem(const std::vector<RunResult>& results) {
  const std::string& protocol = results.front().result.protocol;
  if (std::none_of(results.begin(), results.end(), is_changed)) return protocol;
  std::set<std::string> slugs;
  std::string all;
  for (const RunResult& r : results)
    if (slugs.insert(r.posenc_slug).second) all += r.posenc_slug + '\n';
  return protocol + '-' + (slugs.size() == 1 ? *slugs.begin() : hash_hex(all).substr(0, 8));
}

std::string short_number(double value) {
  char text[32];
  if (!std::isfinite(value)) {
    std::snprintf(text, sizeof text, "%s", std::isnan(value) ? "nan" : "inf");
  } else if (value >= 1000 && value < 1e6) {
    std::snprintf(text, sizeof text, "%.0f", value);
  } else {
    std::snprintf(text, sizeof text, value >= 1e6 ? "%.3g" : "%.4g", value);
  }
  return text;
}

std::string cell_text(const LengthResult& cell, bool with_error) {
  if (cell.failure == "nonfinite_logits") return "nan";
  if (!cell.failure.empty()) return cell.failure;
  std::string text = short_number(cell.perplexity());
  if (with_error && std::isfinite(cell.perplexity_error())) {
    char error[32];
    std::snprintf(error, sizeof error, "%.2g", cell.perplexity_error());
    text.append(" ± ").append(error);
    if (cell.n_draws > 1) {
      std::snprintf(error, sizeof error, "%.2g", cell.perplexity_spread);
      text.append(" (draws ± ").append(error).append(")");
    }
  }
  return text;
}

std::string results_csv(const std::vector<RunResult>& results) {
  std::string text =
      csv_row({"run", "posenc", "trained_posenc", "seed", "train_len", "step", "data_hash", "split",
               "protocol", "parameters", "parameters_hash", "length", "quantity", "value"});
  for (const RunResult& r : results) {
    for (const LengthResult& cell : r.result.lengths) {
      const auto row = [&](const char* quantity, const std::string& value) {
        text += csv_row({r.run, r.posenc, r.trained_posenc, std::to_string(r.seed),
                         std::to_string(r.train_len), std::to_string(r.step), r.data_hash, r.split,
                         r.result.protocol, r.result.parameters,
                         hash_hex(r.result.parameters).substr(0, 16), std::to_string(cell.length),
                         quantity, value});
      };
      if (!cell.failure.empty()) {
        row("perplexity", cell_text(cell, false));
        row("failure", cell.failure);
        continue;
      }
      row("perplexity", number(cell.perplexity()));
      row("perplexity_error", number(cell.perplexity_error()));
      row("nll", number(cell.mean_nll));
      row("nll_error", number(cell.nll_error));
      if (r.bytes_per_token > 0)
        row("bits_per_byte", number(cell.mean_nll / std::log(2.0) / r.bytes_per_token));
      row("scored_tokens", std::to_string(cell.n_scored));
      row("items", std::to_string(cell.items.size()));
      if (cell.n_draws == 1) continue;
      row("draws", std::to_string(cell.n_draws));
      row("nll_spread", number(cell.nll_spread));
      row("perplexity_spread", number(cell.perplexity_spread));
    }
  }
  return text;
}

std::string items_csv(const RunResult& r) {
  std::string text = csv_row({"length", "item", "first_token", "nll"});
  for (const LengthResult& cell : r.result.lengths) {
    for (size_t i = 0; i < cell.items.size(); ++i) {
      const std::string first = i < r.result.starts.size()
                                    ? std::to_string(r.result.starts[i])
                                    : std::to_string(static_cast<int64_t>(i) * cell.length);
      text +=
          csv_row({std::to_string(cell.length), std::to_string(i), first, number(cell.items[i])});
    }
  }
  return text;
}

std::string results_table(const std::vector<RunResult>& results) {
  if (results.empty()) return "";
  std::vector<std::vector<std::string>> rows(1, {"encoding"});
  for (const LengthResult& cell : results.front().result.lengths)
    rows.front().push_back(std::to_string(cell.length));
  const std::vector<std::string> labels = labels_of(results);
  for (size_t i = 0; i < results.size(); ++i) {
    rows.push_back({labels[i]});
    for (const LengthResult& cell : results[i].result.lengths)
      rows.back().push_back(cell_text(cell, true));
  }

  const RunResult& first = results.front();
  std::string text = concat(first.result.protocol, " perplexity ± standard error, ", first.split,
                            " split (", first.result.parameters, ")\n");
  text += text_table(rows);
  for (size_t i = 0; i < results.size(); ++i)
    for (const LengthResult& cell : results[i].result.lengths)
      if (!cell.failure.empty())
        text += concat(labels[i], " at ", cell.length, ": ", cell.message, '\n');
  return text;
}

Plot results_plot(const std::vector<RunResult>& results) {
  Plot plot;
  if (results.empty()) return plot;
  const RunResult& first = results.front();
  plot.title = first.result.protocol == "last-token" ? "Last-token perplexity"
                                                     : "Non-overlapping perplexity";
  plot.x_label = "evaluation length (tokens)";
  plot.y_label = "perplexity";
  const bool one_length = std::all_of(results.begin(), results.end(), [&](const RunResult& r) {
    return r.train_len == first.train_len;
  });
  if (one_length) {
    plot.marked_x = static_cast<double>(first.train_len);
    plot.marked_label = "training length";
  }
  const std::vector<std::string> labels = labels_of(results);
  for (size_t i = 0; i < results.size(); ++i) {
    Curve curve{labels[i], {}};
    for (const LengthResult& cell : results[i].result.lengths)
      curve.points.push_back(
          {static_cast<double>(cell.length), cell.perplexity(), cell.perplexity_error()});
    std::sort(curve.points.begin(), curve.points.end(),
              [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; });
    plot.curves.push_back(std::move(curve));
  }
  return plot;
}

}  // namespace farfield::apps
