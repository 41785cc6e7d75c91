#pragma once

#include <vector>

#include "apps/sweep/folder.h"
#include "apps/sweep/plan.h"
#include "apps/sweep/results.h"

namespace farfield::sweep {

/// Estimates how long cells take, from the finished cells of the same folder: training by the
/// slowest training, measurements by the slowest measurements, each per multiply-add.
class Pace {
 public:
  /// A finished cell and its times.
  void learn(const Cell& cell, const CellResult& result);
  bool is_known() const { return training_ > 0; }
  /// Seconds of a whole cell. Without a finished cell, the estimate of cost.h.
  double seconds_of(const Cell& cell, bool is_card) const;
  /// Seconds of the rest of a cell, after its newest checkpoint and its finished measurements.
  double seconds_left(const SweepFolder& folder, const Cell& cell, bool is_card) const;

 private:
  double training_ = 0, rest_ = 0;  // seconds a multiply-add
};

/// The pace of these finished cells.
Pace pace_of(const std::vector<Cell>& done, const Results& results);

}  // namespace farfield::sweep
