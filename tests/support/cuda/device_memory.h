#pragma once

#include <cstddef>
#include <vector>

namespace farfield::emulation {

/// Memory of the emulated device: the host's own, with a list of what is allocated.
void* allocate_device_memory(size_t size_bytes);  ///< null when there is none left; all poison
bool free_device_memory(void* begin);             ///< false for memory from elsewhere
/// Whether all these bytes lie in one allocation.
bool is_device_memory(const void* begin, size_t size_bytes);
size_t allocated_device_bytes();

/// The content of all device memory.
struct DeviceSnapshot {
  struct Piece {
    unsigned char* begin;
    std::vector<unsigned char> bytes;
  };
  std::vector<Piece> pieces;
};
DeviceSnapshot snapshot_device_memory();
void restore_device_memory(const DeviceSnapshot& snapshot);

}  // namespace farfield::emulation
