#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/support/cuda/block.h"

namespace farfield::emulation {

/// The percentage of a multiprocessor's memory that a kernel wants as shared memory on the device
/// of this thread; -1: as usual.
int preferred_carveout(const void* kernel);

/// Whether the shared memory that a launch gives is no more than 48 KiB, or was asked for by
/// cudaFuncSetAttribute().
bool may_have_dynamic_bytes(const Launch& launch);

/// Sets the static shared memory of a kernel for cudaFuncGetAttributes(). nvcc knows it; the
/// emulation sees objects only when the kernel runs, so it is 0 unless a test sets it. A launch
/// whose last block has more than the test set throws.
void set_static_shared_bytes(const void* kernel, size_t size_bytes);
/// BackendError if a test has set another size for the kernel than this size of a block.
void check_static_shared_bytes(const void* kernel, size_t size_bytes);

/// Calls of cudaFuncGetAttributes() and cudaFuncSetAttribute() so far.
int64_t n_attribute_calls();

}  // namespace farfield::emulation
