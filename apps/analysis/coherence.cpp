#include "apps/analysis/coherence.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "apps/analysis/perplexity.h"
#include "engine/base/error.h"

namespace farfield::analysis {
namespace {

constexpr std::string_view kWhere = "eval:coherence";
constexpr double kCoherent = 1.25, kBroken = 2;  // times the reference

// The first entry from `begin` on that `run` entries above the limit start at.
std::optional<size_t> first_run_above(std::span<const double> values, size_t begin, size_t run,
                                      double limit) {
  size_t n_above = 0;
  for (size_t i = begin; i < values.size(); ++i) {
    n_above = values[i] > limit ? n_above + 1 : 0;
    if (n_above == run) return i + 1 - run;
  }
  return {};
}

}  // namespace

Coherence coherence(std::span<const double> perplexity, double reference, int64_t train_len) {
  require<ConfigError>(!perplexity.empty(), kWhere, "bad_argument: expected positions, got none");
  require<ConfigError>(train_len >= 1, kWhere, "bad_argument: expected train_len >= 1, got ",
                       train_len);
  require<ConfigError>(reference > 0 && std::isfinite(reference), kWhere,
                       "bad_argument: expected a finite perplexity at train_len, got ", reference);
  const auto end_of_training = std::min(perplexity.size(), static_cast<size_t>(train_len));
  Coherence result;
  double n_coherent = 0, n_beyond = 0;
  for (size_t i = 0; i < perplexity.size(); ++i) {
    require<ConfigError>(!std::isnan(perplexity[i]), kWhere,
                         "bad_argument: expected perplexities, got nan at position ", i + 1);
    result.is_coherent.push_back(perplexity[i] <= kCoherent * reference);
    n_coherent += result.is_coherent.back();
    n_beyond += i >= end_of_training && result.is_coherent.back();
  }
  result.share = n_coherent / static_cast<double>(perplexity.size());
  if (perplexity.size() > end_of_training)
    result.share_beyond = n_beyond / static_cast<double>(perplexity.size() - end_of_training);
  const auto run = static_cast<size_t>(std::max<int64_t>(1, train_len / 8));
  if (const auto entry = first_run_above(perplexity, end_of_training, run, kBroken * reference))
    result.breakdown = static_cast<int64_t>(*entry) + 1;
  return result;
}

std::vector<double> perplexity_by_residue(std::span<const double> mean_nll, int64_t modulus) {
  const auto n = static_cast<int64_t>(mean_nll.size());
  require<ConfigError>(modulus >= 1 && modulus <= n, kWhere,
                       "bad_argument: expected a modulus from 1 to ", n, ", got ", modulus);
  std::vector<double> result;
  for (int64_t r = 0; r < modulus; ++r) {
    double sum = 0, count = 0;
    for (int64_t id = r; id < n; id += modulus, ++count) sum += mean_nll[static_cast<size_t>(id)];
    result.push_back(perplexity_of(sum / count));
  }
  return result;
}

double distinct_share(std::span<const int32_t> text, int64_t n) {
  const auto size = static_cast<int64_t>(text.size());
  require<ConfigError>(n >= 1, kWhere, "bad_argument: expected n-grams of n >= 1, got ", n);
  require<ConfigError>(size >= n, kWhere, "bad_argument: expected at least ", n, " tokens for ", n,
                       "-grams, got ", size);
  std::set<std::vector<int32_t>> seen;
  for (int64_t i = 0; i + n <= size; ++i) seen.emplace(text.begin() + i, text.begin() + i + n);
  return static_cast<double>(seen.size()) / static_cast<double>(size - n + 1);
}

double cycle_share(std::span<const int32_t> text) {
  require<ConfigError>(!text.empty(), kWhere, "bad_argument: expected tokens, got none");
  size_t longest = 0;
  for (size_t period = 1; 2 * period <= text.size(); ++period) {
    size_t n_equal = 0;  // tokens in a row that equal the one a period before
    for (size_t i = period; i < text.size(); ++i) {
      n_equal = text[i] == text[i - period] ? n_equal + 1 : 0;
      if (n_equal >= period) longest = std::max(longest, n_equal + period);
    }
  }
  return static_cast<double>(longest) / static_cast<double>(text.size());
}

}  // namespace farfield::analysis
