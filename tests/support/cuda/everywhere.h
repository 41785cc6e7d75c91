#pragma once

#include <cstdint>

namespace farfield::emulation {

/// Whether tensors of the CPU are given to CUDA kernels too: FARFIELD_TEST_DEVICE=cuda.
bool is_cuda_everywhere();

/// Kernels launched so far.
int64_t n_launches();

}  // namespace farfield::emulation
