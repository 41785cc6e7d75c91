#pragma once

#include <cstdint>

#include "engine/cuda/launch.h"

namespace farfield {

/// d = a b + c by the tensor cores: a [16, 16] and b [16, 8] bfloat16, c and d [16, 8] float32, for
/// all 32 lanes of a warp together.
///
/// Layout    lane = 4 group + member. A register of a or b holds two neighbours along the inner
///           dimension, the first in its lower half: a[r] row group + 8 (r % 2), columns
///           2 member + 8 (r / 2) and the next; b[r] column group, rows 2 member + 8 r and the
///           next. c[i], d[i]: row group + 8 (i / 2), column 2 member + i % 2.
/// Accuracy  products exact, sums in float32 in an order of the hardware's own, which drops bits
///           below the last in place of rounding (Fasi et al. 2021, PeerJ Computer Science 7:e330)
/// Source    PTX ISA, mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32; from sm_80 on
__device__ inline void mma_m16n8k16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                                    const float (&c)[4]) {
#ifdef __CUDACC__
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]),
        "f"(c[2]), "f"(c[3]));
#else
  emulation::mma_m16n8k16(d, a, b, c);
#endif
}

}  // namespace farfield
