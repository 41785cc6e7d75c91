#include "apps/sweep/halving.h"

#include <algorithm>
#include <cmath>

#include "apps/sweep/measured.h"

namespace farfield::sweep {
namespace {

constexpr int64_t kFactor = 3;

// ln perplexity as nats above the least; infinite where there is none.
std::vector<double> above_least(const std::vector<double>& nats) {
  double least = INFINITY;
  for (const double x : nats)
    if (std::isfinite(x)) least = std::min(least, x);
  std::vector<double> all;
  for (const double x : nats) all.push_back(std::isfinite(x) ? x - least : INFINITY);
  return all;
}

// The mean over the texts, for each arm.
std::vector<double> means(const Plan& plan, const Results& results, double length) {
  std::vector<double> sum(plan.arms.size(), 0);
  for (const PlannedDataset& dataset : plan.datasets) {
    const Measured m(plan, dataset, results);
    std::vector<double> nats;
    for (const PlannedArm& arm : plan.arms) nats.push_back(std::log(m.perplexity(arm, length)));
    const std::vector<double> x = above_least(nats);
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += x[i];
  }
  for (double& x : sum) x /= static_cast<double>(plan.datasets.size());
  return sum;
}

}  // namespace

bool Score::is_known() const { return std::isfinite(near) && std::isfinite(far); }

std::vector<Score> scores_of(const Plan& plan, const Results& results) {
  const std::vector<double> near = means(plan, results, 1), far = means(plan, results, 16);
  std::vector<Score> scores;
  for (size_t i = 0; i < plan.arms.size(); ++i)
    scores.push_back({plan.arms[i].label(), near[i], far[i]});
  return scores;
}

bool dominates(const Score& a, const Score& b) {
  return a.near <= b.near && a.far <= b.far && (a.near < b.near || a.far < b.far);
}

std::vector<std::vector<size_t>> fronts_of(const std::vector<Score>& scores) {
  std::vector<size_t> left;
  for (size_t i = 0; i < scores.size(); ++i)
    if (scores[i].is_known()) left.push_back(i);
  std::vector<std::vector<size_t>> fronts;
  while (!left.empty()) {
    std::vector<size_t> front;
    for (const size_t i : left)
      if (std::none_of(left.begin(), left.end(),
                       [&](size_t other) { return dominates(scores[other], scores[i]); }))
        front.push_back(i);
    std::erase_if(
        left, [&](size_t i) { return std::find(front.begin(), front.end(), i) != front.end(); });
    std::sort(front.begin(), front.end(), [&](size_t a, size_t b) {
      const double x = scores[a].near + scores[a].far, y = scores[b].near + scores[b].far;
      return x != y ? x < y : scores[a].name < scores[b].name;
    });
    fronts.push_back(std::move(front));
  }
  return fronts;
}

std::vector<std::string> promoted(const std::vector<Score>& scores, size_t n) {
  std::vector<std::string> names;
  for (const std::vector<size_t>& front : fronts_of(scores))
    for (const size_t i : front)
      if (names.size() < n) names.push_back(scores[i].name);
  return names;
}

std::vector<Rung> rungs_of(int64_t n) {
  const auto share = [&](int64_t of) { return (n + of - 1) / of; };
  return {{n, 1.0 / (kFactor * kFactor)},
          {share(kFactor), 1.0 / kFactor},
          {share(kFactor * kFactor), 1.0}};
}

}  // namespace farfield::sweep
