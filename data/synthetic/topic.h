#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "data/synthetic/draws.h"

namespace farfield::data {

struct TopicOptions {
  int64_t alphabet = 64;  ///< symbols: 2 to 94
  double local = 0.2;     ///< probability that a symbol depends on the one before it alone
  double alpha = 0.3;     ///< concentration of the distribution that each document has for itself
  uint64_t seed = 0;      ///< of the corpus
};

/// The successors of each symbol in the topic corpus: four symbols, with repetition.
class Successors {
 public:
  static constexpr std::array<double, 4> kShares = {0.55, 0.25, 0.15, 0.05};

  Successors(int64_t alphabet, uint64_t seed);
  const std::array<int, 4>& of(int symbol) const { return of_[static_cast<size_t>(symbol)]; }

 private:
  std::vector<std::array<int, 4>> of_;
};

/// The distribution of one document: each symbol is with probability `local` one of the four
/// successors of the symbol before it, otherwise drawn from theta, which is the document's own, a
/// draw of Dirichlet(alpha, ..., alpha). The more of the document is known, the better theta is.
class Topic {
 public:
  /// Draws theta. `successors` must outlive it.
  Topic(const TopicOptions& options, const Successors& successors, Draws& draws);

  /// The first symbol of a document: uniform.
  int first(Draws& draws) const;
  /// The symbol behind `before`: two draws.
  int next(int before, Draws& draws) const;
  /// The probability with which next() is `symbol`.
  double probability(int before, int symbol) const;
  const std::vector<double>& theta() const { return theta_; }

 private:
  const Successors& successors_;
  double local_;
  std::vector<double> theta_, sums_;  // sums_: of theta up to and with each symbol
};

}  // namespace farfield::data
