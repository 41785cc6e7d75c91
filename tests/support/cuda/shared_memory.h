#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "tests/support/cuda/poison.h"

namespace farfield::emulation {

/// The shared memory of the block that runs. Round each object lies a red zone: under the address
/// sanitizer any access to it, or to unused memory, stops the program; without the sanitizer, a
/// write to a red zone is found at the end of the block, and a read from it gives poison.
class SharedMemory {
 public:
  /// As on compute capability 8.0: of a block, of it what static objects may take, and what its
  /// dynamic part may without being asked for.
  static constexpr size_t kMaxBytes = size_t{163} << 10;
  static constexpr size_t kMaxStaticBytes = size_t{48} << 10, kPlainBytes = kMaxStaticBytes;

  SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  /// A new block, which may have most_bytes: nothing but its dynamic part, all poison.
  void begin(size_t dynamic_bytes, size_t most_bytes, Poison poison);
  unsigned char* dynamic() { return objects_.front().begin; }
  /// The static object of this key, made of poison when it is first asked for; null when the block
  /// has no room for it.
  unsigned char* object(const void* key, size_t size_bytes);
  /// Bytes of the static objects so far.
  size_t static_bytes() const;

  /// A write to a red zone.
  struct Overwrite {
    bool is_dynamic;    ///< beside the dynamic part, else a static object
    ptrdiff_t offset;   ///< of the byte from where that begins
    size_t size_bytes;  ///< of that
  };
  /// The first write to a red zone, if there was one. None under the sanitizer, which reports them.
  std::optional<Overwrite> overwritten() const;

 private:
  struct Object {
    const void* key;
    unsigned char* begin;
    size_t size_bytes;
  };
  unsigned char* add(const void* key, size_t size_bytes);

  std::unique_ptr<unsigned char[]> arena_;
  std::vector<Object> objects_;  // the dynamic part first
  size_t used_bytes_ = 0;        // of the arena, red zones included
  size_t most_bytes_ = kMaxBytes;
  Poison poison_ = Poison::nan;
};

}  // namespace farfield::emulation
