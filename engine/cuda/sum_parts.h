#pragma once

#include <cstdint>

#include "engine/device.h"

namespace farfield {

/// Arrays that sums go to, as many as there are.
struct SumsTo {
  float* at[3] = {};
};

/// to.at[s][i] = the sum over p of parts[p, s, i]: n_part parts of n_sum arrays of n numbers, of
/// which there may be none. One kernel; the order depends on n_part alone.
void sum_parts(Cuda device, int64_t n_part, int n_sum, int n, const float* parts, const SumsTo& to);

}  // namespace farfield
