#pragma once

#include <cstdint>

#include "engine/device.h"

namespace farfield {

/// Arrays that receive the sums. null: not wanted.
struct SumsTo {
  float* at[3] = {};
};

/// Parts of the sums of n_sum arrays [n_outer, n], n_part of each sum, which may be none.
struct Parts {
  const float* data;  ///< [n_outer, n_part, n_sum, n]
  int64_t n_outer, n_part;
  int n_sum;
  int64_t n;
};

/// to.at[s][o, i] = the sum over p of parts[o, p, s, i], in float64. One kernel; the order depends
/// on n_part alone.
void sum_parts(Cuda device, const Parts& parts, const SumsTo& to);

}  // namespace farfield
