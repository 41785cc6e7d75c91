#pragma once
// Stands in for engine/dispatch.h where the engine is built over the emulation. There host memory
// and device memory are one, so tensors of the CPU can be given to CUDA kernels: with
// FARFIELD_TEST_DEVICE=cuda they all are, and a test that knows nothing of devices tests these.

#include "engine/cuda/context.h"
#include "tests/support/cuda/everywhere.h"

namespace farfield {

Cuda cuda_tag(const Device& device);

template <class F>
decltype(auto) dispatch(const Device& device, F&& f) {
  if (device.kind == Device::Kind::cuda) return f(cuda_tag(device));
  if (!emulation::is_cuda_everywhere()) return f(Cpu{});
  try {
    return f(cuda_tag({Device::Kind::cuda, 0}));
  } catch (const Float64Error&) {
    return f(Cpu{});
  }
}

}  // namespace farfield
