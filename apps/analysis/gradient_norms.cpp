#include "apps/analysis/gradient_norms.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"

namespace farfield::analysis {
namespace {

constexpr std::string_view kWhere = "eval:gradient";

template <class T>
std::vector<double> norms_of(std::span<const T> gradient, int64_t width) {
  const auto n_components = static_cast<int64_t>(gradient.size());
  require<ConfigError>(width >= 1 && n_components >= width && n_components % width == 0, kWhere,
                       "bad_argument: expected one or more rows of a width >= 1, got ",
                       n_components, " components and width ", width);
  std::vector<double> norms;
  for (int64_t row = 0; row < n_components / width; ++row) {
    const auto g = gradient.subspan(static_cast<size_t>(row * width), static_cast<size_t>(width));
    double largest = 0;
    for (const T component : g) {
      const double x = std::abs(static_cast<double>(component));
      require<Error>(std::isfinite(x), kWhere, "nonfinite_gradient: expected finite numbers, got ",
                     component, " at input ", row + 1, " of ", n_components / width);
      largest = std::max(largest, x);
    }
    double squares = 0;
    if (largest > 0)
      for (const T component : g) {
        const double x = static_cast<double>(component) / largest;
        squares += x * x;
      }
    norms.push_back(largest * std::sqrt(squares));
  }
  return norms;
}

}  // namespace

std::vector<double> gradient_norms(std::span<const float> gradient, int64_t width) {
  return norms_of(gradient, width);
}

std::vector<double> gradient_norms(std::span<const double> gradient, int64_t width) {
  return norms_of(gradient, width);
}

std::vector<double> normalized_gradient(std::span<const double> norms) {
  require<ConfigError>(!norms.empty(), kWhere, "bad_argument: expected inputs, got none");
  for (size_t i = 0; i < norms.size(); ++i)
    require<Error>(std::isfinite(norms[i]) && norms[i] >= 0, kWhere,
                   "nonfinite_gradient: expected a norm, got ", norms[i], " at input ", i + 1,
                   " of ", norms.size());
  const double largest = *std::max_element(norms.begin(), norms.end());
  require<Error>(largest > 0, kWhere,
                 "zero_gradient: expected a gradient that is not zero everywhere; the model is "
                 "certain of this token: take the gradient of its logit, or compute in float64");
  std::vector<double> s(norms.begin(), norms.end());
  double total = 0;
  for (double& share : s) total += share /= largest;  // neither overflows nor is denormal
  for (double& share : s) share /= total;
  return s;
}

std::vector<double> cumulative_gradient(std::span<const double> s) {
  require<ConfigError>(!s.empty(), kWhere, "bad_argument: expected inputs, got none");
  std::vector<double> c(s.size());
  double sum = 0;
  for (size_t i = s.size(); i-- > 0;) c[i] = sum += s[i];
  require<ConfigError>(std::abs(sum - 1) < 1e-9, kWhere,
                       "bad_argument: expected shares that sum to 1, got a sum of ", sum);
  for (double& share : c) share = std::clamp(share, 0.0, 1.0);
  c.front() = 1;  // by definition; the sum may have been rounded to below it
  return c;
}

std::vector<double> mean_gradient(std::span<const std::vector<double>> s_of_segment) {
  require<ConfigError>(!s_of_segment.empty(), kWhere,
                       "bad_argument: expected segments >= 1, got none");
  std::vector<double> mean(s_of_segment.front().size());
  for (const std::vector<double>& s : s_of_segment) {
    require<ConfigError>(s.size() == mean.size(), kWhere, "bad_argument: expected segments of ",
                         mean.size(), " inputs, got ", s.size());
    for (size_t i = 0; i < s.size(); ++i) mean[i] += s[i];
  }
  for (double& share : mean) share /= static_cast<double>(s_of_segment.size());
  return mean;
}

}  // namespace farfield::analysis
