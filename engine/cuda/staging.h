#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <mutex>
#include <vector>

#include "engine/cuda/stream.h"
#include "engine/device.h"

namespace farfield {

/// Frees memory of the host that a device reads by itself.
struct FreePinned {
  void operator()(void* data) const { cudaFreeHost(data); }
};
using PinnedMemory = std::unique_ptr<void, FreePinned>;

/// Memory of the host that a device reads by itself ("pinned"), by way of which values get there
/// without a wait: neither does the host wait until the device comes to the copy, nor does the
/// device stand still, as it may where a copy has to begin in ordinary memory.
class Staging {
 public:
  /// Of one copy. What is larger is rare (weights) and better copied as it is.
  static constexpr size_t kMostBytes = size_t{4} << 20;

  /// Puts a copy to the device into its stream; size_bytes in 1 .. kMostBytes. `from` may be
  /// changed as soon as the call returns. BackendError when there is no such memory.
  void copy(const void* from, void* to, size_t size_bytes, cudaStream_t stream);

  /// From here to end_recording() the stream is captured: each copy, of any size, has memory of its
  /// own with what was to be copied, which a graph reads at each launch.
  void begin_recording();
  bool is_recording();
  /// That memory, for whoever has the graph.
  std::vector<PinnedMemory> end_recording();

 private:
  static constexpr size_t kMostBlocks = 32, kLeastBytes = size_t{1} << 16;

  struct Block {
    PinnedMemory data;
    size_t size_bytes = 0;
    Event copied;  // the latest copy out of it
  };
  /// One of at least this size whose latest copy is done.
  Block& idle_block(size_t size_bytes);

  std::mutex mutex_;
  std::vector<Block> blocks_;
  size_t next_ = 0;  // the one to wait for when all are in use
  bool is_recording_ = false;
  std::vector<PinnedMemory> recorded_;
};

/// That of each device.
Staging& staging_of(Cuda device);

}  // namespace farfield
