#pragma once

#include <cstddef>

namespace farfield {

/// Elements of a row of a factor in shared memory: 128 bytes. Rows lie one behind the other
/// from a multiple of 1024 bytes on, 16-byte piece i of row r at position i ^ r % 8, so that
/// neither eight rows nor the pieces of a row meet in a bank.
inline constexpr int kSwizzledColumns = 64;
inline constexpr size_t kSwizzledAlignment = 1024;

}  // namespace farfield
