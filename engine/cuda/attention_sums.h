#pragma once

#include <cstdint>

#include "engine/device.h"

namespace farfield::attention_cuda {

/// y[o, :] = the sum over r of x[o, r, :], in a fixed order, in float64 over runs of rows. x has
/// n_rows rows for each o, row_stride elements apart, of which `inner` are summed.
void sum_rows(Cuda device, int64_t n_outer, int64_t n_rows, int64_t inner, int64_t row_stride,
              const float* x, float* y);

}  // namespace farfield::attention_cuda
