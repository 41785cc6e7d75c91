#pragma once

#include <cmath>

#include "engine/cuda/launch.h"

namespace farfield {

/// 2^x, one instruction: relative error below 2^-22, results below 2^-126 are 0. On the host exp2f.
///
/// Source    PTX ISA, ex2.approx.ftz.f32
__device__ inline float approximate_exp2(float x) {
#ifdef __CUDA_ARCH__
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return std::exp2(x);
#endif
}

}  // namespace farfield
