#pragma once

#include <cstdint>

#include "engine/cuda/launch.h"
#include "engine/dtype.h"

namespace farfield {

/// Four 8 x 8 matrices of bfloat16 from shared memory, for all 32 lanes of a warp together: in the
/// layouts of mma_m16n8k16, at a fraction of what loads of single registers cost.
///
/// Layout    lane 8 i + j gives the address of row j of matrix i, 16 bytes, aligned to that.
///           r[i] gets two neighbours of matrix i, the first in its lower half: row lane / 4,
///           columns 2 (lane % 4) and the next. load_matrices_transposed: column lane / 4, rows
///           2 (lane % 4) and the next.
/// Source    PTX ISA, ldmatrix.sync.aligned.m8n8.x4.shared.b16
__device__ inline void load_matrices(uint32_t (&r)[4], const BFloat16* row) {
#ifdef __CUDACC__
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(row))));
#else
  emulation::load_matrices(r, row, false);
#endif
}

__device__ inline void load_matrices_transposed(uint32_t (&r)[4], const BFloat16* row) {
#ifdef __CUDACC__
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(row))));
#else
  emulation::load_matrices(r, row, true);
#endif
}

}  // namespace farfield
