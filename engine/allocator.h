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

/// Keeps freed blocks by size and hands them out again: a training step asks for the same sizes
/// every time. Block sizes are rounded up by at most an eighth, so that near sizes share blocks.
class Allocator {
 public:
  /// Where blocks are not kept they go back at once and have their exact size, so that use after
  /// free and overruns are seen: by the address sanitizer, under which none are, and by a device's
  /// own (compute-sanitizer), with FARFIELD_KEEP_BLOCKS=0 in the environment, which is read once.
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

  /// The device's own way to get and return memory; get returns nullptr when there is none.
  /// `available` tells how many bytes are free, where the device knows.
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
  /// Nothing while work is recorded (Reserve): a device may not free memory then.
  void release_cached();
  MemoryStats stats();
  void reset_peak();
  /// Bytes that may still be had: what the device has free and what is kept. 0: not known.
  int64_t available();

 private:
  using Blocks = std::map<int64_t, std::vector<void*>>;  // by rounded size
  int64_t round_up(int64_t size_bytes) const;
  /// One of these sizes that is taken out, or nullptr.
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

/// Memory that recorded work (step_graph.h) goes on using at the addresses it was recorded with, so
/// nobody else may have it in between.
///
/// It begins open, while work is recorded: blocks come from what the allocator has cached or from
/// the device, to which none is given back meanwhile, and what is freed of them is handed out again
/// in the same recording. Blocks that were there before are not handed out again once freed: what
/// is recorded first may read what lies in them, each time. After close() the allocator is as ever
/// to others, but every block that was in use by then, or was used by the recording, comes here
/// when it is freed and stays. All count as bytes in tensors. The destructor gives them back; the
/// work must not be repeated any more.
///
/// An allocator has one that is open at a time, and any number of closed ones.
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
  Blocks held_;                        // for nobody
};

/// The allocator of each device. It outlives every tensor, static ones included.
Allocator& allocator_of(Cpu);
Allocator& allocator_of(Cuda);

}  // namespace farfield
