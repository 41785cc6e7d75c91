#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <type_traits>

namespace farfield {

/// A point in the work of a stream.
class Event {
 public:
  Event();
  /// Records the event after all earlier work of the stream.
  void record(cudaStream_t stream);
  /// Waits until the stream has reached it.
  void synchronize() const;
  /// Whether the stream has reached it; true for an event that was never recorded.
  bool has_come() const;
  /// From `begin` to this one; both recorded, this one waited for.
  float time_ms_since(const Event& begin) const;
  cudaEvent_t get() const { return event_.get(); }

 private:
  struct Destroy {
    void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
  };
  std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Destroy> event_;
};

/// Work that a device does in order; independent of the default stream.
class Stream {
 public:
  Stream();
  /// Waits until all its work is done; BackendError when some of it failed.
  void synchronize() const;
  /// Whether some of its work is not done; false when some of it failed, which the next call tells.
  bool is_busy() const;
  /// Later work of this stream begins after the event.
  void wait_for(const Event& event) const;
  cudaStream_t get() const { return stream_.get(); }

 private:
  struct Destroy {
    void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
  };
  std::unique_ptr<std::remove_pointer_t<cudaStream_t>, Destroy> stream_;
};

}  // namespace farfield
