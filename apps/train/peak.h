#pragma once

namespace farfield::train {

/// Multiply-adds in float32 that all threads together reach when everything stays in registers, in
/// GFLOP/s (a multiply-add is two). Takes some milliseconds; the best of a few tries.
double fma_peak_gflops();

}  // namespace farfield::train
