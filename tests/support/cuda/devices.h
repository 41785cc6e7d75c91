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
/// Of a block on the device that the thread of the host has chosen; 0 when it is not there.
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

/// Adds one of compute capability 8.0, or one of 8.6, whose blocks have 99 KiB of shared memory,
/// until the devices are put back: both lack the products of warpgroups that the first device has.
/// Its index, which no other test takes: the engine asks a device once what it has.
int add_older_device();
int add_small_device();

}  // namespace farfield::emulation
