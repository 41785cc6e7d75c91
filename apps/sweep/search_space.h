#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/sweep/scale.h"

namespace farfield::sweep {

/// A formula of the distance that a search may train.
struct Candidate {
  std::string name;    ///< "k1", "k2", ...: in tables and legends
  std::string family;  ///< "log", "floor", "mixture", ...
  std::string posenc;  ///< canonical, of the scale
};

/// The formulas of `sweep search`, written in the grammar of kernel(...). Biases, each subtracted
/// from the score:
///
/// * linear, sqrt, power    r d, r sqrt(d), r d^p with p fixed
/// * learned power          r d^p
/// * log, log of power      r log(1 + a d), r log(1 + a d^p)
/// * floor                  min(r d, f)
/// * saturating             r (1 - exp(-b d))
/// * per head               constants c 2^(-8 h / n_head) times a growth
/// * mixture                the sum of two of these
///
/// Weights are exp(-r d^p) and 1 / (1 + r d); `both` is a bias and a weight. All come with and
/// without `+ rope`. Amplitudes and rates start in ranges that suit L: at distance L a bias starts
/// between 0 and 2, 8 or 32.
struct SearchSpace {
  std::vector<Candidate> candidates;
  int64_t n_refused = 0;  ///< draws that the model of the scale cannot have
  int64_t n_equal = 0;    ///< draws with the canonical text of an earlier one
};

/// The most candidates of a search.
inline constexpr int64_t kMostCandidates = 1000;

/// The first n formulas, all different and valid for the scale's model up to 16 L: a pure function
/// of scale and seed, so that a larger n begins with the same ones. ConfigError for more than there
/// are.
SearchSpace search_space(Scale scale, uint64_t seed, int64_t n);

}  // namespace farfield::sweep
