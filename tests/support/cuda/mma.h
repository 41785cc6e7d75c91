#pragma once

#include <cstdint>

#include "engine/dtype.h"
#include "tests/support/cuda/where.h"

namespace farfield::emulation {

/// mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32: d = a b + c over the tile that a warp
/// holds. Products are exact in float32; sums are float32, c first, then k = 0 ... 15.
void mma_m16n8k16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                  const float (&c)[4], Where where = Where::here());

/// wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16, of the 16 rows of the warp that calls.
/// d = a b^T or d += a b^T, both in swizzled rows of shared memory, or d += a b, a in registers; d
/// has 8 pieces. Unlike the instruction it is done at once.
void multiply_shared(float (&d)[8][4], const BFloat16* a, const BFloat16* b, bool adds,
                     Where where = Where::here());
void multiply_by_shared(float (*d)[4], const uint32_t (&a)[4], const BFloat16* b,
                        Where where = Where::here());

}  // namespace farfield::emulation
