#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace farfield::data {

/// Which of several sources a row of the training comes from, by weights: a pure function of the
/// weights, the seed and the row.
///
/// Rows are dealt in rounds of kRound. In each round a source has the same number of rows: its
/// weight's share of the round, to the nearest whole row and at least one. Which rows of the round
/// these are, the seed and the round's number decide (Permutation).
class Mixture {
 public:
  static constexpr int64_t kRound = 4096;

  /// Weights need not sum to 1. ConfigError for a weight that is not finite and above 0, and for
  /// more than kRound weights.
  Mixture(const std::vector<double>& weights, uint64_t seed);

  struct Row {
    size_t source = 0;
    int64_t index = 0;  ///< how many rows of this source came before, in the order of dealing
  };
  Row operator[](int64_t row) const;
  /// Rows of a source in each round.
  int64_t rows_of(size_t source) const {
    return ends_[source] - (source > 0 ? ends_[source - 1] : 0);
  }

 private:
  std::vector<int64_t> ends_;  // of each source's places in a round
  uint64_t seed_;
};

}  // namespace farfield::data
