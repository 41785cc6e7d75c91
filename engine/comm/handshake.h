#pragma once

#include <array>
#include <cstdint>

namespace farfield::comm {

/// What a process says of itself when it connects. Its fields are in the order of bytes of this
/// machine: `magic` is another number to one of the other order.
struct Hello {
  uint64_t magic = 0x31706c6569667266;
  int32_t rank = 0, size = 0;
  uint32_t port = 0;  ///< that it listens on itself
};

/// Why a process may not join; "": it may.
struct Reply {
  std::array<char, 128> refusal = {};
};

/// Where a process listens, as process 0 sees it: one for each rank, behind the reply.
struct Address {
  std::array<char, 64> host = {};
  uint32_t port = 0;
};

}  // namespace farfield::comm
