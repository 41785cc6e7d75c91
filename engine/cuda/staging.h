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

/// Pinned host memory, through which values get to the device without a wait: the host does not
/// wait until the device reaches the copy, and the device does not idle, as it may for a copy from
/// pageable memory.
class Staging {
 public:
  /// Most bytes of a copy that the host does not wait for. Larger copies are rare (weights): the
  /// host copies them directly and waits, since CUDA does not promise to have read pageable memory
  /// when the call returns.
  static constexpr size_t kMostBytes = size_t{4} << 20;

  /// Queues a copy to the device in its stream; at least one byte. `from` may be changed as soon as
  /// the call returns. BackendError if no pinned memory is left.
  void copy(const void* from, void* to, size_t size_bytes, cudaStream_t stream);

  /// The memory that a graph reads at each launch; the graph's owner keeps it.
  struct Recorded {
    PinnedMemory data;
    size_t size_bytes = 0;
    bool is_input = false;  ///< StepInputs
  };
  /// From here to end_recording() the stream is captured: each copy, of any size, keeps its bytes
  /// in its own memory.
  void begin_recording();
  std::vector<Recorded> end_recording();

  /// Whether copies from now on are inputs of a recording (StepInputs).
  void set_inputs(bool are_inputs);
  /// From here to end_refill() each copy of an input also goes to the memory of the next recorded
  /// input. No launch may be reading the memory.
  void begin_refill(std::vector<Recorded>& recorded);
  /// Whether each recorded input got one copy of its size.
  bool end_refill();

 private:
  static constexpr size_t kMostBlocks = 32, kLeastBytes = size_t{1} << 16;

  struct Block {
    PinnedMemory data;
    size_t size_bytes = 0;
    Event copied;  // the latest copy out of it
  };
  /// A buffer of at least this size whose latest copy is done.
  Block& idle_block(size_t size_bytes);

  void refill(const void* from, size_t size_bytes);
  /// The first input among the refilled copies, from i on.
  size_t next_input(size_t i) const;

  std::mutex mutex_;
  std::vector<Block> blocks_;
  size_t next_ = 0;  // the buffer to wait for when all are in use
  bool is_recording_ = false, are_inputs_ = false;
  std::vector<Recorded> recorded_;
  std::vector<Recorded>* refilled_ = nullptr;  // null: none
  size_t next_refilled_ = 0;
  bool has_fitted_ = true;
};

/// The staging memory of each device.
Staging& staging_of(Cuda device);

}  // namespace farfield
