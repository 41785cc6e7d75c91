#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <type_traits>

namespace farfield {

/// Work of a stream as one thing that a device is given by one call, as often as wanted: nothing is
/// looked up or launched by the host meanwhile.
class Graph {
 public:
  /// Puts all of it into a stream.
  void launch(cudaStream_t stream) const;
  /// Kernels, copies and memsets.
  int64_t n_nodes() const { return n_nodes_; }

 private:
  friend class Capture;
  struct Destroy {
    void operator()(cudaGraphExec_t exec) const { cudaGraphExecDestroy(exec); }
  };
  std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, Destroy> exec_;
  int64_t n_nodes_ = 0;
};

/// While one lives, nothing that a stream is given is done: it becomes a part of a graph. Memory
/// may be allocated meanwhile. The runtime refuses to wait for the stream or to ask for an event
/// of it, and the capture is then invalid.
class Capture {
 public:
  explicit Capture(cudaStream_t stream);
  /// Without end() the work is dropped.
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  /// What was captured. BackendError when something made the capture invalid.
  Graph end();

 private:
  cudaStream_t stream_;
};

}  // namespace farfield
