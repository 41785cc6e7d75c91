#include "tests/support/cuda/runtime.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <string_view>

#include "tests/support/cuda/copies.h"
#include "tests/support/cuda/device_memory.h"
#include "tests/support/cuda/driver.h"
#include "tests/support/cuda/stream.h"
#include "tests/support/cuda/stuck.h"
#include "tests/support/cuda/symbol_name.h"

namespace emulation = farfield::emulation;
using emulation::capture;
using emulation::is_capturing;
using emulation::is_device_memory;
using emulation::is_pinned_memory;
using emulation::refuse_to_capture;

struct CUevent_st {
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> recorded;
  int64_t n_copies = 0;  // asked for before it
  bool is_captured = false;
  std::weak_ptr<CUgraph_st> captured_in;
};

namespace {

std::atomic<int64_t> device_ahead_ns{0};

CUevent_st::Clock::time_point device_time() {
  return CUevent_st::Clock::now() + std::chrono::nanoseconds(device_ahead_ns);
}

cudaMemcpyKind kind_of(bool is_to_device, bool is_from_device) {
  return static_cast<cudaMemcpyKind>(2 * is_from_device + is_to_device);
}

cudaError_t wait_for_device() {
  emulation::count_host_wait();
  emulation::finish_copies();
  return emulation::wait_while_stuck() ? emulation::find_fault() : cudaErrorNotReady;
}

}  // namespace

void emulation::device_takes(double time_us) {
  device_ahead_ns += static_cast<int64_t>(1e3 * time_us);
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorInsufficientDriver:
      return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorIllegalState:
      return "the operation cannot be performed in the present state";
    case cudaErrorNotReady:
      return "device not ready";
    case cudaErrorIllegalAddress:
      return "an illegal memory access was encountered";
    case cudaErrorStreamCaptureUnsupported:
      return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated:
      return "operation failed due to a previous error during capture";
    case cudaErrorCapturedEvent:
      return "operation not permitted on an event last recorded in a capturing stream";
  }
  return "unrecognized error code";
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new CUstream_st;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (cudaGraph_t graph = nullptr; is_capturing(stream)) {
    cudaStreamEndCapture(stream, &graph);
    delete graph;
  }
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (is_capturing(stream)) return refuse_to_capture(stream);
  return wait_for_device();
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (is_capturing(stream)) return refuse_to_capture(stream);
  return emulation::is_stuck() ? cudaErrorNotReady : emulation::find_fault();
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st;
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  event->is_captured = is_capturing(stream);
  if (event->is_captured) {
    event->captured_in = stream->capture;
    return stream->capture->is_invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
  }
  if (const cudaError_t status = emulation::found_fault(); status != cudaSuccess) return status;
  event->recorded = device_time();
  event->n_copies = emulation::n_copies_asked();
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (event->is_captured) {
    if (const auto graph = event->captured_in.lock()) graph->is_invalid = true;
    return cudaErrorCapturedEvent;
  }
  const bool has_come = event->n_copies <= emulation::n_copies_done() && !emulation::is_stuck();
  return has_come ? emulation::find_fault() : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const cudaError_t status = cudaEventQuery(event);
  return status == cudaErrorNotReady ? wait_for_device() : status;
}

cudaError_t cudaEventElapsedTime(float* time_ms, cudaEvent_t begin, cudaEvent_t end) {
  if (!begin->recorded || !end->recorded) return cudaErrorInvalidValue;
  *time_ms = std::chrono::duration<float, std::milli>(*end->recorded - *begin->recorded).count();
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t, unsigned) {
  return is_capturing(stream) ? refuse_to_capture(stream) : emulation::found_fault();
}

cudaError_t cudaMalloc(void** begin, size_t size_bytes) {
  size_t free_bytes = 0, total_bytes = 0;
  cudaMemGetInfo(&free_bytes, &total_bytes);
  *begin = nullptr;
  if (const cudaError_t status = emulation::found_fault(); status != cudaSuccess) return status;
  if (size_bytes > free_bytes) return cudaErrorMemoryAllocation;
  if (size_bytes > 0) *begin = farfield::emulation::allocate_device_memory(size_bytes);
  return size_bytes > 0 && !*begin ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t cudaFree(void* begin) {
  if (!begin) return cudaSuccess;
  if (const cudaError_t status = emulation::refuse_to_free(); status != cudaSuccess) return status;
  emulation::finish_copies();
  return farfield::emulation::free_device_memory(begin) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaHostAlloc(void** begin, size_t size_bytes, unsigned) {
  *begin = nullptr;
  if (const cudaError_t status = emulation::found_fault(); status != cudaSuccess) return status;
  *begin = emulation::allocate_pinned_memory(size_bytes);
  return *begin ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFreeHost(void* begin) {
  if (!begin) return cudaSuccess;
  if (const cudaError_t status = emulation::refuse_to_free(); status != cudaSuccess) return status;
  return emulation::free_pinned_memory(begin) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  const bool is_known = std::string_view(name) == "cuTensorMapEncodeTiled";
  *function = is_known ? reinterpret_cast<void*>(&cuTensorMapEncodeTiled) : nullptr;
  if (result) *result = is_known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size_bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  if (size_bytes == 0) return cudaSuccess;
  if (is_capturing(stream)) {
    const auto is_kept = [&](const void* begin) {
      return is_device_memory(begin, size_bytes) || is_pinned_memory(begin, size_bytes);
    };
    if (!is_kept(to) || !is_kept(from)) return refuse_to_capture(stream);
    return capture(stream, [=] { cudaMemcpyAsync(to, from, size_bytes, kind); });
  }
  const bool is_to_device = is_device_memory(to, size_bytes);
  const bool is_from_device = is_device_memory(from, size_bytes);
  if (kind != cudaMemcpyDefault && kind != kind_of(is_to_device, is_from_device))
    return cudaErrorInvalidValue;
  if (const cudaError_t status = emulation::begin_work(); status != cudaSuccess) return status;
  if (is_to_device && !is_from_device) {
    if (!is_pinned_memory(from, size_bytes)) emulation::count_host_wait();
    emulation::copy_later(to, from, size_bytes);
    return cudaSuccess;
  }
  emulation::finish_copies();
  if (!is_to_device && !emulation::wait_while_stuck()) return cudaErrorNotReady;
  std::memmove(to, from, size_bytes);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* begin, int value, size_t size_bytes, cudaStream_t stream) {
  if (size_bytes == 0) return cudaSuccess;
  if (!is_device_memory(begin, size_bytes)) return cudaErrorInvalidValue;
  if (is_capturing(stream))
    return capture(stream, [=] { cudaMemsetAsync(begin, value, size_bytes); });
  if (const cudaError_t status = emulation::begin_work(); status != cudaSuccess) return status;
  emulation::finish_copies();
  std::memset(begin, value, size_bytes);
  return cudaSuccess;
}

cudaError_t cudaMemset2DAsync(void* begin, size_t pitch_bytes, int value, size_t row_bytes,
                              size_t rows, cudaStream_t stream) {
  if (row_bytes == 0 || rows == 0) return cudaSuccess;
  const size_t size_bytes = (rows - 1) * pitch_bytes + row_bytes;
  if (row_bytes > pitch_bytes || !is_device_memory(begin, size_bytes)) return cudaErrorInvalidValue;
  if (is_capturing(stream))
    return capture(stream, [=] { cudaMemset2DAsync(begin, pitch_bytes, value, row_bytes, rows); });
  if (const cudaError_t status = emulation::begin_work(); status != cudaSuccess) return status;
  emulation::finish_copies();
  for (size_t row = 0; row < rows; ++row)
    std::memset(static_cast<char*>(begin) + row * pitch_bytes, value, row_bytes);
  return cudaSuccess;
}

cudaError_t cudaFuncGetName(const char** name, const void* kernel) {
  thread_local std::string text;
  text = farfield::emulation::symbol_name(kernel);
  *name = text.c_str();
  return cudaSuccess;
}
