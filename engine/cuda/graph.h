#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <type_traits>

namespace farfield {

/// A CUDA graph: work of a stream that one call launches, as often as wanted, without further work
/// of the host.
class Graph {
 public:
  /// Launches the graph in a stream.
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

/// While one lives, work given to the stream is not done but becomes a part of a graph. Memory may
/// be allocated meanwhile. The runtime refuses to wait for the stream or to query its events, and
/// such a call makes the capture invalid.
class Capture {
 public:
  explicit Capture(cudaStream_t stream);
  /// Without end() the work is dropped.
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  /// The captured graph. BackendError if the capture became invalid.
  Graph end();

 private:
  cudaStream_t stream_;
};

}  // namespace farfield
