#pragma once

#include <cstdint>
#include <string>

#include "engine/device.h"

namespace farfield {

/// Waits until the device has done all its work; BackendError if some of it failed. The CPU has
/// nothing to wait for.
void synchronize(const Device& device);

/// Properties of a device.
struct DeviceInfo {
  std::string name;          ///< as its maker calls it: "NVIDIA H200"; "cpu" for the CPU
  int major = 0, minor = 0;  ///< compute capability; 0 for the CPU
  int64_t total_bytes = 0;   ///< memory; 0 for the CPU
};
DeviceInfo device_info(const Device& device);

/// Bytes that can still be allocated for tensors; 0: not known, as on the CPU.
int64_t device_free_bytes(const Device& device);

// By tag, for dispatch().
inline void synchronize(Cpu) {}
void synchronize(Cuda device);
inline DeviceInfo device_info(Cpu) { return {.name = "cpu"}; }
DeviceInfo device_info(Cuda device);

}  // namespace farfield
