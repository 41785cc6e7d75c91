#pragma once

#include <string>

#include "apps/plot/plot.h"

namespace farfield::plot {

/// The range of the finite values of the curves, without bands and error bars.
Range x_range(const Plot& plot);

/// The scaling of y, and the commands for its axis: linear, logarithmic, or for differences linear
/// near 0 and logarithmic far from it.
class YAxis {
 public:
  explicit YAxis(const Plot& plot);

  const Range& range() const { return range_; }
  bool is_log() const { return is_log_; }
  /// Where a value is drawn, in units of the axis.
  double place(double y) const;
  /// The least that a logarithmic axis can take beneath this value, or -infinity.
  double floor_of(double y) const { return is_log_ ? y * 1e-3 : -INFINITY; }
  /// Sets scale, range and marks.
  std::string commands() const;

 private:
  void make_room_for_bands(const Plot& plot);
  std::string log_ticks() const;
  std::string bent_ticks() const;
  std::string whole_ticks() const;

  Range range_;
  bool is_log_ = false, is_whole_ = false;
  double bend_ = 0;  // about where a bent axis turns from linear to logarithmic; 0: it is straight
};

/// Sets scale, range and marks of x. `letters`: the room along the axis, in letters of its numbers.
std::string x_axis_commands(const Plot& plot, const Range& x, double letters);

}  // namespace farfield::plot
