#pragma once

#include <bit>
#include <cstdint>

#include "engine/cuda/launch.h"
#include "engine/dtype.h"

namespace farfield {

/// Two neighbours, the first in the lower half.
__device__ inline uint32_t pack(BFloat16 first, BFloat16 second) {
  return first.bits | static_cast<uint32_t>(second.bits) << 16;
}

/// The same of float32, rounded to nearest, ties to even: one instruction for both.
/// Source    PTX ISA, cvt.rn.bf16x2.f32; from sm_80 on
__device__ inline uint32_t round_and_pack(float first, float second) {
#ifdef __CUDACC__
  uint32_t packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(second), "f"(first));
  return packed;
#else
  return pack(BFloat16(first), BFloat16(second));
#endif
}

/// One of the two, widened.
__device__ inline float first_of(uint32_t packed) { return std::bit_cast<float>(packed << 16); }
__device__ inline float second_of(uint32_t packed) {
  return std::bit_cast<float>(packed & 0xffff0000u);
}

}  // namespace farfield
