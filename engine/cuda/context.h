#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "engine/device_info.h"
#include "engine/dtype.h"

namespace farfield {

/// DeviceError unless the runtime finds a driver and this device, and the device has compute
/// capability 8.0 or later. cuda_tag() calls this before it first hands a device out.
void require_device(int index);

/// A kernel that has no form for float64.
class Float64Error : public DTypeError {
 public:
  using DTypeError::DTypeError;
};

/// Float64Error unless float32 or bfloat16: float64 is on a device for tables of encodings only,
/// and the kernels of pointwise, reduce, view and index take it; the others begin with this.
inline void require_device_float(DType dtype) {
  require<Float64Error>(dtype == DType::f32 || dtype == DType::bf16, "cuda",
                        "expected float32 or bfloat16, got ", dtype, "; compute that on the cpu");
}

/// Bytes of shared memory that a block of the device may have, its kernel's own among them. The
/// runtime is asked once.
size_t most_shared_bytes(Cuda device);

/// Whether the device has products of warpgroups (wgmma.cuh), and this build machine code for them:
/// that for sm_90a. The runtime is asked once.
bool multiplies_by_warpgroups(Cuda device);

inline cudaStream_t stream_of(Cuda device) { return static_cast<cudaStream_t>(device.stream); }

}  // namespace farfield
