#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/sweep/plan.h"
#include "apps/sweep/results.h"

namespace farfield::sweep {

/// A model of a search by its two aims, in nats; lower is better, infinite without a number.
struct Score {
  std::string name;
  double near = 0;  ///< of perplexity at L
  double far = 0;   ///< of perplexity at 16 L
  bool is_known() const;
};

/// The scores of the models of a plan that measures perplexity at 1 and 16 L: nats above the best
/// model of each text, as a mean over the texts. Nats are not divided by a spread, which would
/// enlarge the noise of a text on which all models are alike.
std::vector<Score> scores_of(const Plan& plan, const Results& results);

/// Whether `a` is as good as `b` by both aims and better by one.
bool dominates(const Score& a, const Score& b);
/// Places in `scores`: first the models that no other dominates, then the models that only those
/// dominate, and so on. In each front, the least sum of both aims comes first; equal ones by name.
/// Models without a number are left out.
std::vector<std::vector<size_t>> fronts_of(const std::vector<Score>& scores);
/// The names of the first n models of fronts_of().
std::vector<std::string> promoted(const std::vector<Score>& scores, size_t n);

/// A rung of successive halving: n models, each with a share of the recipe's steps.
struct Rung {
  int64_t n = 0;
  double steps = 1;
};
/// Three rungs, of 1/9, 1/3 and all steps: of n models, a third reaches the next.
///
/// Source    Jamieson and Talwalkar 2016, arXiv:1502.07943, with a factor of 3
std::vector<Rung> rungs_of(int64_t n);

}  // namespace farfield::sweep
