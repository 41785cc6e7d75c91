#pragma once

#include <vector>

#include "apps/sweep/folder.h"
#include "apps/sweep/plan.h"
#include "apps/sweep/results.h"

namespace farfield::sweep {

/// How long cells take, by those of the same folder that are finished: training by the slowest
/// training, what follows by the slowest measurements, each per multiply-add.
class Pace {
 public:
  /// A finished cell, with what it took.
  void learn(const Cell& cell, const CellResult& result);
  bool is_known() const { return training_ > 0; }
  /// Seconds of all of a cell. Before anything is known those of cost.h.
  double seconds_of(const Cell& cell, bool is_card) const;
  /// Seconds of what a cell still lacks, after its newest checkpoint and what is measured already.
  double seconds_left(const SweepFolder& folder, const Cell& cell, bool is_card) const;

 private:
  double training_ = 0, rest_ = 0;  // seconds a multiply-add
};

/// Of those cells of a folder.
Pace pace_of(const SweepFolder& folder, const std::vector<Cell>& done);

}  // namespace farfield::sweep
