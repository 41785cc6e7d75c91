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

/// What cudaFuncGetAttributes() says of a kernel's own shared memory. nvcc knows it; here objects
/// are first seen when the kernel runs, so that it is 0 unless a test says otherwise. A launch
/// whose last block has more than a test said throws.
void set_static_shared_bytes(const void* kernel, size_t size_bytes);
/// BackendError unless a block that had so much is what a test said of the kernel, or none did.
void check_static_shared_bytes(const void* kernel, size_t size_bytes);

/// Calls of cudaFuncGetAttributes() and cudaFuncSetAttribute() so far.
int64_t n_attribute_calls();

}  // namespace farfield::emulation
