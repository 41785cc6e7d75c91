#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace farfield::emulation {

/// The contents of memory before a kernel has written to it.
enum class Poison : uint32_t {
  /// A signalling NaN as float32, two of them as bfloat16, far out of bounds as an index.
  nan = 0x7fa17fa1,
  /// A large finite number as both. What hides a NaN (fmax, a comparison) shows the difference
  /// between this and the other.
  large = 0x7f7f7f7f,
};

inline void fill(void* begin, size_t size_bytes, Poison poison) {
  const auto word = static_cast<uint32_t>(poison);
  auto* bytes = static_cast<unsigned char*>(begin);
  size_t i = 0;
  for (; i + sizeof word <= size_bytes; i += sizeof word)
    std::memcpy(bytes + i, &word, sizeof word);
  std::memcpy(bytes + i, &word, size_bytes - i);
}

}  // namespace farfield::emulation
