#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "tests/support/cuda/runtime.h"
#include "tests/support/cuda/shared_memory.h"

namespace farfield::emulation {

/// The devices that the runtime tells of, for tests to change. They share one memory.
struct Devices {
  cudaError_t search = cudaSuccess;  ///< what comes of looking for them
  struct Capability {
    int major, minor;
    size_t shared_bytes = SharedMemory::kMaxBytes;  ///< of a block; at most that
  };
  std::vector<Capability> capabilities = {{9, 0}};  ///< one for each device
  size_t total_bytes = size_t{1} << 36;
};
Devices& emulated_devices();
/// Of a block on the device that the host's thread has chosen; 0 if the device is missing.
size_t most_shared_bytes();

/// Puts the devices back as they were.
class KeepDevices {
 public:
  KeepDevices() = default;
  KeepDevices(const KeepDevices&) = delete;
  KeepDevices& operator=(const KeepDevices&) = delete;
  ~KeepDevices() { emulated_devices() = std::move(before_); }

 private:
  Devices before_ = emulated_devices();
};

/// Adds a device of compute capability 8.0, or of 8.6 with 99 KiB of shared memory per block, until
/// the devices are reset: both lack the first device's warpgroup products. Returns an index that no
/// other test uses, since the engine queries a device only once.
int add_older_device();
int add_small_device();

}  // namespace farfield::emulation
