#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "engine/base/error.h"

namespace farfield {

/// Where a tensor's bytes are.
struct Device {
  enum class Kind { cpu, cuda };
  Kind kind = Kind::cpu;
  int index = 0;

  friend bool operator==(const Device&, const Device&) = default;
};
std::ostream& operator<<(std::ostream& out, const Device& device);

/// "cpu", "cuda" or "cuda:N"; ConfigError for another text and for a device that this build lacks.
Device parse_device(std::string_view text);

/// Tags: every kernel is an overload on one of these.
struct Cpu {};
struct Cuda {
  int index;
  void* stream;
};

#ifdef FARFIELD_HAS_CUDA
/// The tag of a device, with its current stream.
Cuda cuda_tag(const Device& device);
#endif

/// Calls f with the tag of the device. A build without CUDA has no second branch, so it needs no
/// stub kernels.
template <class F>
decltype(auto) dispatch(const Device& device, F&& f) {
#ifdef FARFIELD_HAS_CUDA
  if (device.kind == Device::Kind::cuda) return f(cuda_tag(device));
#endif
  require<DeviceError>(device.kind == Device::Kind::cpu, "device", "expected cpu, got ", device,
                       "; this build has no CUDA, configure with FARFIELD_CUDA=ON");
  return f(Cpu{});
}

}  // namespace farfield
