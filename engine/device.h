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
/// The number of the device "cuda", 0 by default: each process of a machine has its own device.
void set_default_cuda(int index);

/// Tags: every kernel is an overload on one of these.
struct Cpu {};
struct Cuda {
  int index;
  void* stream;
};

}  // namespace farfield
