#include "tests/support/cuda/devices.h"

#include <algorithm>

#include "tests/support/cuda/device_memory.h"

using farfield::emulation::emulated_devices;

namespace farfield::emulation {

Devices& emulated_devices() {
  static Devices devices;
  return devices;
}

namespace {

int add_device(int index, const Devices::Capability& capability) {
  auto& capabilities = emulated_devices().capabilities;
  capabilities.resize(std::max(capabilities.size(), static_cast<size_t>(index) + 1), {8, 0});
  capabilities[static_cast<size_t>(index)] = capability;
  return index;
}

}  // namespace

int add_older_device() { return add_device(6, {8, 0}); }
int add_small_device() { return add_device(7, {8, 6, size_t{99} << 10}); }

}  // namespace farfield::emulation

namespace {

thread_local int current_device = 0;

bool is_device(int index) {
  return index >= 0 && index < static_cast<int>(emulated_devices().capabilities.size());
}

}  // namespace

size_t farfield::emulation::most_shared_bytes() {
  int most = 0;
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, current_device);
  return static_cast<size_t>(most);
}

cudaError_t cudaGetDeviceCount(int* count) {
  const auto& devices = emulated_devices();
  if (devices.search == cudaSuccess) *count = static_cast<int>(devices.capabilities.size());
  return devices.search;
}

cudaError_t cudaSetDevice(int index) {
  if (!is_device(index)) return cudaErrorInvalidDevice;
  current_device = index;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* index) {
  *index = current_device;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int index) {
  if (!is_device(index)) return cudaErrorInvalidDevice;
  if (attribute != cudaDevAttrMaxSharedMemoryPerBlockOptin) return cudaErrorInvalidValue;
  *value =
      static_cast<int>(emulated_devices().capabilities[static_cast<size_t>(index)].shared_bytes);
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int index) {
  if (!is_device(index)) return cudaErrorInvalidDevice;
  const auto& capability = emulated_devices().capabilities[static_cast<size_t>(index)];
  *properties = {"emulated", emulated_devices().total_bytes, capability.major, capability.minor};
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  const size_t total = emulated_devices().total_bytes;
  *total_bytes = total;
  *free_bytes = total - std::min(total, farfield::emulation::allocated_device_bytes());
  return cudaSuccess;
}
