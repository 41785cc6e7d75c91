#pragma once
// Where the running thread is; set each time another one runs.

#include "tests/support/cuda/vector_types.h"

inline constinit thread_local uint3 threadIdx = {};
inline constinit thread_local uint3 blockIdx = {};
inline constinit thread_local dim3 blockDim = {};
inline constinit thread_local dim3 gridDim = {};
inline constexpr int warpSize = 32;

/// The place of the lowest bit that is set, from 1 on; 0 for 0.
inline int __ffs(int bits) { return __builtin_ffs(bits); }
