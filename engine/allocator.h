#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/storage.h"

namespace farfield {

/// Keeps freed blocks by size and hands them out again: a training step asks for the same sizes
/// every time. Block sizes are rounded up by at most an eighth, so that near sizes share blocks.
class Allocator {
 public:
  /// Under the address sanitizer blocks go back at once and have their exact size: use after free
  /// and overruns are seen.
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

  explicit Allocator(Source source) : source_(std::move(source)) {}

  void* allocate(int64_t size_bytes);
  void free(void* data, int64_t size_bytes) noexcept;
  void release_cached();
  MemoryStats stats();
  void reset_peak();

 private:
  void release_cached_locked();
  [[noreturn]] void fail_without_memory(int64_t size_bytes) const;

  Source source_;
  std::mutex mutex_;
  std::map<int64_t, std::vector<void*>> free_blocks_;  // by rounded size
  MemoryStats stats_;
};

/// The allocator of each device. It outlives every tensor, static ones included.
Allocator& allocator_of(Cpu);
Allocator& allocator_of(Cuda);

}  // namespace farfield
