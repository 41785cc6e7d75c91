#pragma once
// Stands in for the header of that name in the CUDA toolkit, so that engine/cuda/ is compiled as
// ordinary C++ and runs on the host. It has what our kernels may use, and nothing else: a kernel
// that needs more does not compile here. There is no __shared__; see engine/cuda/shared.cuh.

#include "tests/support/cuda/atomics.h"
#include "tests/support/cuda/block.h"
#include "tests/support/cuda/builtins.h"
#include "tests/support/cuda/copy_async.h"
#include "tests/support/cuda/copy_bulk.h"
#include "tests/support/cuda/load_matrix.h"
#include "tests/support/cuda/mma.h"
#include "tests/support/cuda/runtime.h"
#include "tests/support/cuda/warp.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__

inline void __syncthreads(farfield::emulation::Where where = farfield::emulation::Where::here()) {
  farfield::emulation::this_block().barrier(where);
}
