#pragma once
// How kernels are launched, and what they may use of CUDA:
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
//   bulk       CopyBarrier, copy_box, copy_bytes (copy_bulk.cuh), with a `const __grid_constant__`
//              TensorMap (tensor_map.h) as a parameter
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

/// Whether each thing that a device is given (kernel, product, copy, memset, sum over processes) is
/// waited for, so that what goes wrong while it runs is told with its name: FARFIELD_CUDA_SYNC=1 in
/// the environment, which is read once. Slow. A stream that is captured is not waited for, and
/// record_work() refuses to record any.
bool waits_for_each_launch();
/// The same, whatever the environment says.
void wait_for_each_launch(bool waits);
/// Waits for a stream that is not captured. BackendError "[cuda] what: the runtime's own words".
void wait_for_launch(cudaStream_t stream, const std::string& what);
/// Behind what a stream was given beside kernels: the same, where each thing is waited for. The
/// parts become one text only then.
template <class... Parts>
void wait_if_asked(cudaStream_t stream, const Parts&... what) {
  if (waits_for_each_launch()) [[unlikely]]
    wait_for_launch(stream, concat(what...));
}

/// Puts a kernel into a stream. BackendError with the kernel's name and the configuration when the
/// runtime refuses it, with both sizes when it wants more shared memory than the device has; what
/// goes wrong while it runs is found where the stream is waited for (waits_for_each_launch()).
///
/// The call behind <<<>>> and not <<<>>> itself: it returns the error of this launch alone, and
/// needs no syntax of nvcc's.
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
