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
  /// Of one copy that is not waited for. What is larger is rare (weights): it is copied as it is
  /// and waited for, since CUDA does not promise to have read ordinary memory when the call
  /// returns.
  static constexpr size_t kMostBytes = size_t{4} << 20;

  /// Puts a copy to the device into its stream; at least one byte. `from` may be changed as soon as
  /// the call returns. BackendError when there is no such memory.
  void copy(const void* from, void* to, size_t size_bytes, cudaStream_t stream);

  /// What a graph reads at each launch, for whoever has the graph.
  struct Recorded {
    PinnedMemory data;
    size_t size_bytes = 0;
    bool is_input = false;  ///< StepInputs
  };
  /// From here to end_recording() the stream is captured: each copy, of any size, has memory of its
  /// own with what was to be copied.
  void begin_recording();
  std::vector<Recorded> end_recording();

  /// Whether what is copied now is an input of what is or was recorded.
  void set_inputs(bool are_inputs);
  /// From here to end_refill() each copy of an input goes to the memory of the next one of those
  /// recorded, too. No launch may be reading them.
  void begin_refill(std::vector<Recorded>& recorded);
  /// Whether there was one copy of its size for each of them.
  bool end_refill();

 private:
  static constexpr size_t kMostBlocks = 32, kLeastBytes = size_t{1} << 16;

  struct Block {
    PinnedMemory data;
    size_t size_bytes = 0;
    Event copied;  // the latest copy out of it
  };
  /// One of at least this size whose latest copy is done.
  Block& idle_block(size_t size_bytes);

  void refill(const void* from, size_t size_bytes);
  /// The first of the refilled ones from i on that is an input.
  size_t next_input(size_t i) const;

  std::mutex mutex_;
  std::vector<Block> blocks_;
  size_t next_ = 0;  // the one to wait for when all are in use
  bool is_recording_ = false, are_inputs_ = false;
  std::vector<Recorded> recorded_;
  std::vector<Recorded>* refilled_ = nullptr;  // null: none
  size_t next_refilled_ = 0;
  bool has_fitted_ = true;
};

/// That of each device.
Staging& staging_of(Cuda device);

}  // namespace farfield
