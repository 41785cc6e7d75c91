#include "engine/cuda/stream.h"

#include "engine/cuda/check.h"

namespace farfield {

Event::Event() {
  cudaEvent_t event = nullptr;
  cuda_check(cudaEventCreate(&event), "an event");
  event_.reset(event);
}

void Event::record(cudaStream_t stream) {
  cuda_check(cudaEventRecord(get(), stream), "recording of an event");
}

void Event::synchronize() const { cuda_check(cudaEventSynchronize(get()), "wait for an event"); }

bool Event::has_come() const {
  const cudaError_t status = cudaEventQuery(get());
  if (status != cudaErrorNotReady) cuda_check(status, "question for an event");
  return status == cudaSuccess;
}

float Event::time_ms_since(const Event& begin) const {
  float time_ms = 0;
  cuda_check(cudaEventElapsedTime(&time_ms, begin.get(), get()), "time between two events");
  return time_ms;
}

Stream::Stream() {
  cudaStream_t stream = nullptr;
  cuda_check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
  stream_.reset(stream);
}

void Stream::synchronize() const { cuda_check(cudaStreamSynchronize(get()), "work of a stream"); }

bool Stream::is_busy() const { return cudaStreamQuery(get()) == cudaErrorNotReady; }

void Stream::wait_for(const Event& event) const {
  cuda_check(cudaStreamWaitEvent(get(), event.get()), "a stream that waits for an event");
}

}  // namespace farfield
