#pragma once

#include <cstdint>

#include "engine/device.h"

namespace farfield {

class Allocator;

/// Bytes held by live tensors of one device, as the caching allocator counts them (rounded up to
/// its block sizes).
struct MemoryStats {
  int64_t current_bytes = 0;  ///< in tensors now, or reserved for recorded work
  int64_t peak_bytes = 0;     ///< the most since the last reset_peak_memory()
  int64_t cached_bytes = 0;   ///< freed by tensors, cached for later tensors
};
MemoryStats memory_stats(const Device& device);
void reset_peak_memory(const Device& device);
/// Gives the cached blocks back to the system; not while work is recorded (step_graph.h).
void release_cached_memory(const Device& device);

/// Bytes on one device, the only owner of memory. 64-byte aligned on the CPU; not initialised.
class Storage {
 public:
  /// BackendError when the memory cannot be allocated: the text says how much was requested and how
  /// much is in use.
  Storage(int64_t size_bytes, const Device& device);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  void* data() const { return data_; }
  int64_t size_bytes() const { return size_bytes_; }
  const Device& device() const { return device_; }

 private:
  Allocator* allocator_ = nullptr;  // kept: a destructor must not ask a device that has failed
  void* data_ = nullptr;
  int64_t size_bytes_;
  Device device_;
};

}  // namespace farfield
