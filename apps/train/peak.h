#pragma once

namespace farfield::train {

/// Multiply-adds in float32 that all threads together reach when everything stays in registers, in
/// GFLOP/s (a multiply-add is two). Takes some milliseconds; the best of a few tries.
double fma_peak_gflops();
/// The same by VDPBF16PS, which multiplies two pairs of bfloat16 in each lane (four flop). 0: this
/// build has no such instruction.
double bf16_pair_peak_gflops();

}  // namespace farfield::train
