#pragma once

#include <cstdint>
#include <map>

namespace farfield {

/// Memory in transparent huge pages of 2 MiB, where the system gives them. Smaller blocks share
/// them, so that a step's working set needs few entries of the TLB, and a processor's prefetcher
/// does not stop every 4 KiB. Not safe to be called by several threads at a time.
class HugePages {
 public:
  static constexpr int64_t kPage = int64_t{2} << 20;
  static constexpr int64_t kLargest = 8 * kPage;  ///< size of a block
  static constexpr int64_t kAlignment = 64;       ///< of a block

  HugePages() = default;
  HugePages(const HugePages&) = delete;
  HugePages& operator=(const HugePages&) = delete;
  ~HugePages();

  /// size_bytes in [1, kLargest]; not initialised. nullptr when memory is exhausted.
  void* get(int64_t size_bytes);
  /// A block from get() of this size. Huge pages of which nothing is used go back to the system.
  void put(void* data, int64_t size_bytes) noexcept;
  /// Bytes taken from the system, touched or not.
  int64_t held_bytes() const;

  /// `size_bytes` of whole pages: from the system, to be freed by std::free(). nullptr when memory
  /// is exhausted.
  static void* whole(int64_t size_bytes);

 private:
  using Ranges = std::map<char*, int64_t>;  // size by address
  static constexpr int64_t kChunk = 32 * kPage;

  bool add_chunk(int64_t size_bytes);

  Ranges chunks_, free_;
};

}  // namespace farfield
