#pragma once
// How kernels are launched, and the parts of CUDA that they may use:
//
//   indices    threadIdx, blockIdx, blockDim, gridDim, warpSize
//   memory     shared<T>(), dynamic_shared<T>() (shared.cuh); no __shared__, no __constant__;
//              store_whole (store.cuh)
//   block      __syncthreads(); copy_async, end_copy_group, wait_for_copy_groups, wait_for_copies
//              (copy_async.cuh)
//   bits       __ffs
//   warp       __shfl_sync, __shfl_up_sync, __shfl_down_sync, __shfl_xor_sync, __ballot_sync,
//              __any_sync, __all_sync, __reduce_min_sync, __reduce_max_sync (unsigned),
//              __syncwarp, mma_m16n8k16 (mma.cuh), load_matrices (load_matrix.cuh),
//              round_and_pack (pack.cuh)
//   warpgroup  begin_product, begin_adding_product and what they need (wgmma.cuh)
//   bulk       TMA: CopyBarrier, copy_box, copy_bytes (copy_bulk.cuh), with a `const
//              __grid_constant__` TensorMap (tensor_map.h) as a parameter
//   atomics    atomicAdd (int, float, double), atomicMax, atomicCAS (int)
//
// The same source is compiled by nvcc, and as ordinary C++ where the build puts the emulated
// <cuda_runtime.h> on the include path; nothing in engine/cuda knows which.

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <tuple>
#include <utility>

#include "engine/base/error.h"
#include "engine/cuda/kernel_memory.h"

namespace farfield {

namespace detail {

void check_launch(cudaError_t status, const void* kernel, dim3 grid, dim3 block,
                  size_t shared_bytes, cudaStream_t stream);

}  // namespace detail

/// Whether the host waits for each operation of a device (kernel, product, copy, memset, sum over
/// processes), so that an error message names the operation that failed: FARFIELD_CUDA_SYNC=1 in
/// the environment, which is read once. Slow. The host does not wait for a captured stream, and
/// record_work() refuses to record.
bool waits_for_each_launch();
/// The same, whatever the environment says.
void wait_for_each_launch(bool waits);
/// Waits for a stream that is not captured. BackendError "[cuda] what: the runtime's own words".
void wait_for_launch(cudaStream_t stream, const std::string& what);
/// Call this after other work than kernels was put into a stream: waits for it if
/// waits_for_each_launch(). Only then the parts become one text.
template <class... Parts>
void wait_if_asked(cudaStream_t stream, const Parts&... what) {
  if (waits_for_each_launch()) [[unlikely]]
    wait_for_launch(stream, concat(what...));
}

/// Launches a kernel in a stream. BackendError with the kernel's name and the configuration if the
/// runtime refuses it, with both sizes if it wants more shared memory than the device has. Errors
/// while it runs appear at the next wait for the stream (see waits_for_each_launch()).
///
/// Uses the function behind <<<>>> instead of <<<>>> itself: it returns the error of this launch
/// alone, and needs no special syntax.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared_bytes,
            cudaStream_t stream, Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments), "one argument for each parameter");
  const auto* address = reinterpret_cast<const void*>(kernel);
  detail::prepare_shared_memory(address, shared_bytes);
  std::tuple<Parameters...> values(std::forward<Arguments>(arguments)...);
  const cudaError_t status = std::apply(
      [&](auto&... value) {
        void* pointers[] = {static_cast<void*>(&value)..., nullptr};
        return cudaLaunchKernel(kernel, grid, block, pointers, shared_bytes, stream);
      },
      values);
  detail::check_launch(status, address, grid, block, shared_bytes, stream);
}

}  // namespace farfield
