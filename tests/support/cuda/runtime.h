#pragma once
// The part of the CUDA runtime that the engine uses. Everything is done when a call returns, so
// streams have nothing to wait for; except copies out of pinned memory (copies.h), and work of a
// stream that is captured (capture.h). Names, parameters and defaults as in NVIDIA's header.

#include <cstddef>
#include <memory>
#include <tuple>

#include "tests/support/cuda/capture.h"
#include "tests/support/cuda/copies.h"
#include "tests/support/cuda/faults.h"
#include "tests/support/cuda/grid.h"
#include "tests/support/cuda/kernel_attributes.h"
#include "tests/support/cuda/vector_types.h"

enum cudaError_t : int {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorIllegalState = 401,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureInvalidated = 901,
  cudaErrorCapturedEvent = 907,
};
const char* cudaGetErrorString(cudaError_t error);

/// Tests choose the answers of these: emulated_devices() in devices.h.
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaSetDevice(int index);
cudaError_t cudaGetDevice(int* index);
enum cudaDeviceAttr { cudaDevAttrMaxSharedMemoryPerBlockOptin = 97 };
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int index);
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem;
  int major, minor;
};
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int index);
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes);

enum cudaDriverEntryPointQueryResult : int {
  cudaDriverEntryPointSuccess = 0,
  cudaDriverEntryPointSymbolNotFound = 1,
};
inline constexpr unsigned long long cudaEnableDefault = 0;
/// Functions of driver.h.
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* result = nullptr);

using cudaStream_t = struct CUstream_st*;
inline constexpr unsigned cudaStreamNonBlocking = 1;
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
/// An error while the stream is captured, and the capture is then invalid.
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
/// Not ready while the device waits for another process (nccl.h).
cudaError_t cudaStreamQuery(cudaStream_t stream);

/// Work of a stream between begin and end is not done, but becomes a graph. Stricter than the
/// runtime: no wait for an event, and no copy from or to pageable host memory, since the graph
/// would read and write it at each launch.
enum cudaStreamCaptureMode { cudaStreamCaptureModeRelaxed = 2 };
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphNode_t = struct CUgraphNode_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone = 0,
  cudaStreamCaptureStatusActive = 1,
  cudaStreamCaptureStatusInvalidated = 2,
};
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
/// The number of nodes alone: `nodes` must be null.
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* n_nodes);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags = 0);
/// Rethrows exceptions of kernels.
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);

using cudaEvent_t = struct CUevent_st*;
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
/// As on a device, both must have been recorded.
cudaError_t cudaEventElapsedTime(float* time_ms, cudaEvent_t begin, cudaEvent_t end);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4,  ///< told by the pointers
};
cudaError_t cudaMalloc(void** begin, size_t size_bytes);
/// Stricter than the runtime, which would wait: this and cudaFreeHost() refuse while any stream is
/// captured, by any thread (refuse_to_free()).
cudaError_t cudaFree(void* begin);
inline constexpr unsigned cudaHostAllocDefault = 0;
cudaError_t cudaHostAlloc(void** begin, size_t size_bytes, unsigned flags);
cudaError_t cudaFreeHost(void* begin);
/// A device side that is not within one allocation is an invalid value.
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size_bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemsetAsync(void* begin, int value, size_t size_bytes,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemset2DAsync(void* begin, size_t pitch_bytes, int value, size_t row_bytes,
                              size_t rows, cudaStream_t stream = nullptr);

cudaError_t cudaFuncGetName(const char** name, const void* kernel);

struct cudaFuncAttributes {
  size_t sharedSizeBytes;  // its own, kernel_attributes.h
};
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* of, const void* kernel);
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
};
inline constexpr int cudaSharedmemCarveoutMaxShared = 100;
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);

namespace farfield::emulation {

/// Moves the device's clock on, which events read; otherwise it follows the host's clock.
void device_takes(double time_us);

template <class... Parameters, size_t... I>
void call_kernel(void (*kernel)(Parameters...), void** arguments, std::index_sequence<I...>) {
  kernel(*static_cast<Parameters*>(arguments[I])...);
}

template <class... Parameters, size_t... I>
auto copy_arguments(void** arguments, std::index_sequence<I...>) {
  return std::make_shared<std::tuple<Parameters...>>(*static_cast<Parameters*>(arguments[I])...);
}

}  // namespace farfield::emulation

/// Throws exceptions of kernels, and errors found in them.
template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
  using namespace farfield::emulation;
  const auto call = [](const void* address, void** values) {
    const auto function = reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(address));
    call_kernel(function, values, std::index_sequence_for<Parameters...>());
  };
  const Launch launch{
      reinterpret_cast<const void*>(kernel), call, arguments, grid, block, shared_bytes};
  if (!is_valid(launch)) return cudaErrorInvalidConfiguration;
  if (!may_have_dynamic_bytes(launch)) return cudaErrorInvalidValue;
  if (is_capturing(stream)) {
    const auto values =
        copy_arguments<Parameters...>(arguments, std::index_sequence_for<Parameters...>());
    return capture(stream, [kernel, grid, block, shared_bytes, values] {
      std::apply(
          [&](auto&... value) {
            void* pointers[] = {static_cast<void*>(&value)..., nullptr};
            cudaLaunchKernel(kernel, grid, block, pointers, shared_bytes);
          },
          *values);
    });
  }
  if (const cudaError_t status = begin_work(); status != cudaSuccess) return status;
  finish_copies();
  run_grid(launch);
  return cudaSuccess;
}
