#include "tests/support/cuda/runtime.h"

#include <chrono>
#include <cstring>
#include <optional>

#include "tests/support/cuda/device_memory.h"
#include "tests/support/cuda/symbol_name.h"

using farfield::emulation::is_device_memory;

struct CUstream_st {};

struct CUevent_st {
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> recorded;
};

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
  }
  return "unrecognized error code";
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new CUstream_st;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st;
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  event->recorded = CUevent_st::Clock::now();
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }

cudaError_t cudaEventElapsedTime(float* time_ms, cudaEvent_t begin, cudaEvent_t end) {
  if (!begin->recorded || !end->recorded) return cudaErrorInvalidValue;
  *time_ms = std::chrono::duration<float, std::milli>(*end->recorded - *begin->recorded).count();
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }

cudaError_t cudaMalloc(void** begin, size_t size_bytes) {
  *begin = size_bytes == 0 ? nullptr : farfield::emulation::allocate_device_memory(size_bytes);
  return size_bytes > 0 && !*begin ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t cudaFree(void* begin) {
  const bool is_freed = !begin || farfield::emulation::free_device_memory(begin);
  return is_freed ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size_bytes, cudaMemcpyKind kind,
                            cudaStream_t) {
  if (size_bytes == 0) return cudaSuccess;
  const bool is_to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool is_from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (is_to_device != is_device_memory(to, size_bytes)) return cudaErrorInvalidValue;
  if (is_from_device != is_device_memory(from, size_bytes)) return cudaErrorInvalidValue;
  std::memmove(to, from, size_bytes);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* begin, int value, size_t size_bytes, cudaStream_t) {
  if (size_bytes == 0) return cudaSuccess;
  if (!is_device_memory(begin, size_bytes)) return cudaErrorInvalidValue;
  std::memset(begin, value, size_bytes);
  return cudaSuccess;
}

cudaError_t cudaFuncGetName(const char** name, const void* kernel) {
  thread_local std::string text;
  text = farfield::emulation::symbol_name(kernel);
  *name = text.c_str();
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int value) {
  const bool is_allowed =
      value >= 0 && static_cast<size_t>(value) <= farfield::emulation::SharedMemory::kMaxBytes;
  return is_allowed ? cudaSuccess : cudaErrorInvalidValue;
}
