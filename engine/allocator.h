#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/storage.h"

namespace farfield {

/// Caches freed blocks by size and hands them out again: a training step asks for the same sizes
/// every time. Block sizes are rounded up by at most an eighth, so that near sizes share blocks.
class Allocator {
 public:
  /// Without the cache, blocks have their exact size and go back at once, so that sanitizers see
  /// use after free and overruns. The address sanitizer always turns the cache off; for a device's
  /// sanitizer (compute-sanitizer) set FARFIELD_KEEP_BLOCKS=0 in the environment, which is read
  /// once.
  static bool keeps_blocks();

  /// False under the address sanitizer.
#if defined(__SANITIZE_ADDRESS__)
  static constexpr bool kKeepsBlocks = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  static constexpr bool kKeepsBlocks = false;
#else
  static constexpr bool kKeepsBlocks = true;
#endif
#else
  static constexpr bool kKeepsBlocks = true;
#endif

  /// The device's functions to get and return memory; get returns nullptr when memory is exhausted.
  /// `available` returns the free bytes, if the device knows.
  struct Source {
    void* (*get)(int64_t size_bytes);
    void (*put)(void* data, int64_t size_bytes);
    std::string name;
    int64_t (*available)() = nullptr;
  };

  explicit Allocator(Source source, bool keeps = keeps_blocks())
      : source_(std::move(source)), keeps_(keeps && kKeepsBlocks) {}

  class Reserve;

  void* allocate(int64_t size_bytes);
  void free(void* data, int64_t size_bytes) noexcept;
  /// Does nothing while work is recorded (Reserve): a device may not free memory then.
  void release_cached();
  MemoryStats stats();
  void reset_peak();
  /// Bytes that can still be allocated: free bytes of the device and cached bytes. 0: not known.
  int64_t available();

 private:
  using Blocks = std::map<int64_t, std::vector<void*>>;  // by rounded size
  int64_t round_up(int64_t size_bytes) const;
  /// Takes a block of this size out, or returns nullptr.
  static void* take(Blocks& blocks, int64_t size);
  void* from_cache(int64_t size);
  Reserve* open_reserve() const;
  void put_back(void* data, int64_t size) noexcept;
  void release_cached_locked();
  [[noreturn]] void fail_without_memory(int64_t size_bytes) const;

  Source source_;
  const bool keeps_;
  std::mutex mutex_;
  Blocks free_blocks_;
  std::vector<Reserve*> reserves_;
  MemoryStats stats_;
};

/// Memory of recorded work (step_graph.h). A replay uses the recorded addresses, so the blocks must
/// not be handed out elsewhere in between.
///
/// A Reserve is open while work is recorded: blocks come from the allocator's cache or from the
/// device, no block goes back to the device, and freed blocks are handed out again in the same
/// recording. Blocks from before the recording are not handed out again once freed, since a replay
/// may read them each time. After close() the allocator works as usual for others. But a block that
/// was in use at close(), or was used by the recording, returns to the Reserve when it is freed,
/// and stays. All blocks count as bytes in tensors. The destructor gives them back; afterwards the
/// work must not be replayed.
///
/// An allocator has at most one open Reserve at a time, and any number of closed ones.
class Allocator::Reserve {
 public:
  explicit Reserve(Allocator& allocator);
  ~Reserve();
  Reserve(const Reserve&) = delete;
  Reserve& operator=(const Reserve&) = delete;
  void close();

 private:
  friend class Allocator;
  void close_locked();
  /// Whether a block that is freed stays here.
  bool holds(void* data) const { return is_open_ || younger_.count(data) == 0; }
  void keep(void* data, int64_t size);

  Allocator& allocator_;
  bool is_open_ = true;
  std::unordered_set<void*> own_;      // handed out while it was open
  std::unordered_set<void*> younger_;  // first handed out by others afterwards
  Blocks free_;                        // for the recording
  Blocks held_;                        // handed out to no user
};

/// The allocator of each device. It outlives every tensor, static ones included.
Allocator& allocator_of(Cpu);
Allocator& allocator_of(Cuda);

}  // namespace farfield
