#include "apps/analysis/receptive_field.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "apps/analysis/gradient_norms.h"
#include "apps/analysis/spread.h"
#include "engine/base/error.h"

namespace farfield::analysis {
namespace {

constexpr std::string_view kGradient = "eval:gradient";
constexpr std::string_view kReach = "eval:reach";

void at_least_one(std::string_view where, std::string_view name, int64_t value) {
  require<ConfigError>(value >= 1, where, "bad_argument: expected ", name, " >= 1, got ", value);
}

}  // namespace

int64_t empirical_receptive_field(std::span<const double> c, double tau) {
  at_least_one(kGradient, "inputs", static_cast<int64_t>(c.size()));
  require<ConfigError>(tau > 0 && tau < 1, kGradient,
                       "bad_argument: expected tau between 0 and 1, got ", tau);
  int64_t k = 1;
  while (k < static_cast<int64_t>(c.size()) && !(c[c.size() - static_cast<size_t>(k)] > tau)) ++k;
  return k;
}

double recent_share(std::span<const double> c, int64_t n) {
  at_least_one(kGradient, "inputs", static_cast<int64_t>(c.size()));
  at_least_one(kGradient, "a count of recent inputs", n);
  return c[c.size() - std::min(c.size(), static_cast<size_t>(n))];
}

int64_t round_up_to_grid(int64_t field, int64_t grid) {
  at_least_one(kGradient, "a receptive field", field);
  at_least_one(kGradient, "a grid", grid);
  return ((field - 1) / grid + 1) * grid;
}

EmpiricalField empirical_field(std::span<const std::vector<double>> s_of_segment, int64_t train_len,
                               double tau) {
  EmpiricalField result;
  result.s = mean_gradient(s_of_segment);
  result.c = cumulative_gradient(result.s);
  result.field = empirical_receptive_field(result.c, tau);
  result.recent = recent_share(result.c, train_len);
  result.n_segments = static_cast<int64_t>(s_of_segment.size());
  for (const std::vector<double>& s : s_of_segment)
    result.fields.push_back(
        static_cast<double>(empirical_receptive_field(cumulative_gradient(s), tau)));
  result.median_field = median_of(result.fields);
  return result;
}

GradientJump find_jump(std::span<const double> s, int64_t position, int64_t train_len) {
  const auto n = static_cast<int64_t>(s.size());
  at_least_one(kGradient, "train_len", train_len);
  require<ConfigError>(position >= 1 && position <= n, kGradient,
                       "bad_argument: expected a position from 1 to ", n, ", got ", position);
  const int64_t slack = train_len / 8;
  require<ConfigError>(n > slack, kGradient, "bad_argument: expected more than ", slack,
                       " inputs to look for a jump at train_len ", train_len, ", got ", n);
  // Inputs first .. last that exist, as a range of s.
  const auto inputs = [&](int64_t first, int64_t last) {
    first = std::max<int64_t>(first, 1);
    last = std::min(last, n);
    return s.subspan(static_cast<size_t>(first - 1), static_cast<size_t>(last - first + 1));
  };
  const auto kept = inputs(1, n - slack);
  GradientJump jump;
  jump.peak = std::max_element(kept.begin(), kept.end()) - kept.begin() + 1;
  const auto near = inputs(position - 2, position + 2);
  const auto around = inputs(position - train_len / 2, position + train_len / 2);
  const double top = *std::max_element(near.begin(), near.end());
  const double median = median_of(around);
  jump.height = median > 0 ? top / median : top > 0 ? std::numeric_limits<double>::infinity() : 0;
  jump.found = std::abs(jump.peak - position) <= slack && jump.height >= 3;
  return jump;
}

TheoreticalField theoretical_field(std::optional<int64_t> window, int64_t n_layer, int64_t n_inputs,
                                   int64_t train_len) {
  at_least_one(kReach, "n_layer", n_layer);
  const std::vector<std::optional<int64_t>> windows(static_cast<size_t>(n_layer), window);
  return theoretical_field(windows, n_inputs, train_len);
}

TheoreticalField theoretical_field(std::span<const std::optional<int64_t>> window_of_layer,
                                   int64_t n_inputs, int64_t train_len) {
  at_least_one(kReach, "n_layer", static_cast<int64_t>(window_of_layer.size()));
  at_least_one(kReach, "inputs", n_inputs);
  at_least_one(kReach, "train_len", train_len);
  TheoreticalField field{.paper = 0, .exact = 1};
  bool is_open = false;
  const int64_t most =
      std::numeric_limits<int64_t>::max() / static_cast<int64_t>(window_of_layer.size());
  for (const std::optional<int64_t>& window : window_of_layer) {
    if (window) at_least_one(kReach, "a window", *window);
    require<ConfigError>(window.value_or(1) <= most, kReach,
                         "bad_argument: expected a window whose product with n_layer ",
                         window_of_layer.size(), " is below 2^63, got ", window.value_or(1));
    is_open = is_open || !window;
    field.paper += window.value_or(0);
    field.exact += window.value_or(1) - 1;
  }
  if (is_open) field.paper = field.exact = n_inputs;
  field.exact = std::min(n_inputs, field.exact);
  field.covered = field.paper <= train_len;
  return field;
}

}  // namespace farfield::analysis
