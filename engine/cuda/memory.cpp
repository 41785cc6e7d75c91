#include "engine/allocator.h"
#include "engine/cuda/check.h"
#include "engine/cuda/context.h"
#include "engine/cuda/launch.h"
#include "engine/cuda/per_device.h"
#include "engine/cuda/staging.h"
#include "engine/kernels/pointwise.h"
#include "engine/kernels/record_work.h"

namespace farfield {
namespace {

// These work on the device of this thread, which cuda_tag() has chosen.

void* get(int64_t size_bytes) {
  void* data = nullptr;
  const cudaError_t status = cudaMalloc(&data, static_cast<size_t>(size_bytes));
  if (status == cudaErrorMemoryAllocation) return nullptr;
  cuda_check(status, "allocation of ", size_bytes, " bytes");
  return data;
}

// Without a check: at the end of a program the runtime may be gone before the last tensor.
void put(void* data, int64_t) { cudaFree(data); }

int64_t available() {
  size_t free_bytes = 0, total_bytes = 0;
  cuda_check(cudaMemGetInfo(&free_bytes, &total_bytes), "the size of free memory");
  return static_cast<int64_t>(free_bytes);
}

}  // namespace

// A block may be handed out again while the device still works on it: what comes next is given to
// the same stream.
Allocator& allocator_of(Cuda device) {
  static auto* const all = new PerDevice<Allocator>;  // never destroyed: static tensors
  return all->at(device.index, [&] {
    const Allocator::Source source{get, put, concat("cuda:", device.index), available};
    return std::make_unique<Allocator>(source);
  });
}

Staging& staging_of(Cuda device) {
  static auto* const all = new PerDevice<Staging>;  // never destroyed: the runtime may be gone
  return all->at(device.index, [] { return std::make_unique<Staging>(); });
}

void set_step_inputs(Cuda device, bool are_inputs) { staging_of(device).set_inputs(are_inputs); }

void copy_bytes(Cuda device, const Tensor& x, Tensor& y) {
  if (x.numel() == 0) return;
  const auto size_bytes = static_cast<size_t>(x.size_bytes());
  const bool is_upload =
      x.device().kind == Device::Kind::cpu && y.device().kind == Device::Kind::cuda;
  if (is_upload)
    return staging_of(device).copy(x.raw_data(), y.raw_data(), size_bytes, stream_of(device));
  cuda_check(
      cudaMemcpyAsync(y.raw_data(), x.raw_data(), size_bytes, cudaMemcpyDefault, stream_of(device)),
      "copy of ", x.size_bytes(), " bytes from ", x.device(), " to ", y.device());
  wait_if_asked(stream_of(device), "copy of ", x.size_bytes(), " bytes from ", x.device(), " to ",
                y.device());
  if (y.device().kind == Device::Kind::cpu) synchronize(device);
}

}  // namespace farfield
