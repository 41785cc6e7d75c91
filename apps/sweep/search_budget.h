#pragma once

#include <cstdint>
#include <vector>

#include "apps/sweep/search.h"

namespace farfield::sweep {

/// The time of a search: by the mean pace of its finished cells and of first_plan(), else by the
/// estimate of cost.h.
class SearchBudget {
 public:
  SearchBudget(const SweepFolder& folder, const SearchRequest& request, int64_t jobs,
               int64_t threads);

  bool is_measured() const { return training_ > 0; }
  /// Seconds of each stage of a search of n formulas, with all jobs.
  std::vector<double> stages(int64_t n) const;
  double all(int64_t n) const;
  /// Seconds of the open ones of these cells of a stage, and of all later stages.
  double left(int64_t n, size_t stage, const std::vector<Cell>& cells) const;
  /// The most formulas that fit into this time; 0: fewer than `fewest`.
  int64_t most(double seconds, int64_t fewest) const;

 private:
  void learn(const std::vector<Cell>& cells);
  double seconds_of(const Cell& cell) const;

  const SweepFolder& folder_;
  const SearchRequest& request_;
  double training_ = 0, rest_ = 0;  // seconds a multiply-add
  double n_at_once_ = 1;
};

}  // namespace farfield::sweep
