#pragma once

#include <cstddef>
#include <cstdint>

namespace farfield::emulation {

/// Pinned memory of the host.
void* allocate_pinned_memory(size_t size_bytes);
bool free_pinned_memory(void* begin);  ///< false for memory from elsewhere
bool is_pinned_memory(const void* begin, size_t size_bytes);

/// A device reads memory of the host later than the call that asks for the copy, the pinned always
/// and other memory where it can: here with the next thing it is given or waited for, so that what
/// is written there too early arrives in its place.
void copy_later(void* to, const void* from, size_t size_bytes);
void finish_copies();
int64_t n_copies_asked();
int64_t n_copies_done();

/// How often the host had to wait for the device, or had a copy begin in memory that is not pinned,
/// for which it may have to.
int64_t n_host_waits();
void count_host_wait();

}  // namespace farfield::emulation
