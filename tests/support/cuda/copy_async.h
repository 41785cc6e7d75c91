#pragma once

#include "tests/support/cuda/block.h"

namespace farfield::emulation {

/// cp.async, `from` null for zeros.
inline void copy_async(void* to, const void* from, size_t size_bytes) {
  this_block().copy_async({to, from, size_bytes});
}
/// cp.async.commit_group
inline void end_copy_group() { this_block().end_copy_group(); }
/// cp.async.wait_all
inline void wait_for_copies() { this_block().wait_for_copies(); }
/// cp.async.wait_group
inline void wait_for_copy_groups(size_t n_later) { this_block().wait_for_copy_groups(n_later); }

}  // namespace farfield::emulation
