#pragma once

#include "tests/support/cuda/block.h"

namespace farfield::emulation {

/// cp.async, `from` null for zeros.
inline void copy_async(void* to, const void* from, size_t size_bytes) {
  this_block().copy_async({to, from, size_bytes});
}
/// cp.async.wait_all
inline void wait_for_copies() { this_block().wait_for_copies(); }

}  // namespace farfield::emulation
