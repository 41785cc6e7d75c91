#pragma once

#include <cstdint>

#include "tests/support/cuda/where.h"

namespace farfield::emulation {

/// mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32: d = a b + c over the tile that a warp
/// holds. Products are exact in float32; sums are float32, c first, then k = 0 ... 15.
void mma_m16n8k16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                  const float (&c)[4], Where where = Where::here());

}  // namespace farfield::emulation
