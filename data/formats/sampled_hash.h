#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "engine/base/hash.h"

namespace farfield::data {

/// Adds to the hash of a corpus whose format records none: the size, all of up to 4 MiB, and of
/// more 1024 blocks of 4 KiB at even distances, the first and the last among them. So a file of any
/// size takes milliseconds; damage between the blocks is not noticed.
inline void add_sample(Hasher& hasher, std::span<const std::byte> bytes) {
  constexpr size_t kBlocks = 1024, kBlock = 4096;
  const size_t size = bytes.size();
  hasher.update(&size, sizeof size);
  if (size <= kBlocks * kBlock) {
    hasher.update(bytes.data(), size);
    return;
  }
  const size_t last = size - kBlock;
  for (size_t i = 0; i < kBlocks; ++i)
    hasher.update(bytes.data() + last / (kBlocks - 1) * i +
                      std::min(i, last % (kBlocks - 1)),  // the last one ends with the file
                  kBlock);
}

}  // namespace farfield::data
