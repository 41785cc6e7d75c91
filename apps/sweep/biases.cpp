#include "apps/sweep/biases.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "posenc/score_tables.h"

namespace farfield::sweep {

inspect::Subject encoding_at(const std::string& expression, int64_t n_head, int64_t n) {
  inspect::Surroundings model;
  model.n_head = n_head;
  posenc::Composition encoding(expression, model.config());
  inspect::Spot spot = inspect::spot_of(encoding, 0, "eval", 0);
  spot.n_key = n;
  const std::string label = encoding.canonical();
  return {std::move(encoding), spot, label};
}

std::vector<double> bias_by_distance(const std::string& expression, int64_t n_head, int64_t head,
                                     int64_t n) {
  const inspect::Subject subject = encoding_at(expression, n_head, n);
  const posenc::Composition::Plan plan = subject.plan();
  const posenc::ScoreTables tables = posenc::score_tables(subject.layer_of(plan).rule, n_head, n);
  std::vector<double> bias(static_cast<size_t>(n), 0.0);
  if (tables.has_bias)
    for (int64_t d = 0; d < n; ++d) bias[static_cast<size_t>(d)] = tables.bias_at(head, d);
  return bias;
}

std::vector<int64_t> buckets_of_t5(int64_t n) {
  // Each begins with a random number of its own.
  const std::vector<double> bias = bias_by_distance("t5", 1, 0, n);
  std::vector<int64_t> buckets(bias.size(), 0);
  for (size_t d = 1; d < bias.size(); ++d)
    buckets[d] = buckets[d - 1] + (bias[d] == bias[d - 1] ? 0 : 1);
  return buckets;
}

ReportTable causal_table(const std::vector<double>& bias, std::string (*text)(double)) {
  ReportTable table;
  table.header = {"query"};
  for (size_t n = 1; n <= bias.size(); ++n) table.header.push_back(concat("key ", n));
  for (size_t m = 0; m < bias.size(); ++m) {
    std::vector<ReportTable::Field> row = {{concat(m + 1)}};
    for (size_t n = 0; n < bias.size(); ++n) row.push_back({n > m ? "" : text(bias[m - n])});
    table.rows.push_back(std::move(row));
  }
  return table;
}

plot::Curve bias_curve(const std::string& label, const std::vector<double>& bias) {
  plot::Curve curve = {.label = label};
  curve.has_markers = false;
  for (size_t d = 0; d < bias.size(); ++d)
    curve.points.push_back({.x = static_cast<double>(d), .y = bias[d]});
  return curve;
}

std::vector<double> softmax_of(const std::vector<double>& scores, size_t n) {
  const auto end = scores.begin() + static_cast<std::ptrdiff_t>(n);
  const double most = *std::max_element(scores.begin(), end);
  std::vector<double> share(n);
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += share[i] = std::exp(scores[i] - most);
  for (double& x : share) x /= sum;
  return share;
}

double largest_softmax_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (size_t n = 1; n <= a.size(); ++n) {
    const std::vector<double> x = softmax_of(a, n), y = softmax_of(b, n);
    for (size_t i = 0; i < n; ++i) most = std::max(most, std::abs(x[i] - y[i]));
  }
  return most;
}

}  // namespace farfield::sweep
