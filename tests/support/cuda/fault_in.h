#pragma once

#include "engine/cuda/launch.h"
#include "tests/support/cuda/faults.h"

namespace farfield::test {

/// While it lives each thing that a device is given is waited for, or not, whatever the environment
/// says.
class WaitsForEach {
 public:
  explicit WaitsForEach(bool waits) { wait_for_each_launch(waits); }
  WaitsForEach(const WaitsForEach&) = delete;
  WaitsForEach& operator=(const WaitsForEach&) = delete;
  ~WaitsForEach() { wait_for_each_launch(before_); }

 private:
  const bool before_ = waits_for_each_launch();
};

/// While it lives the n-th piece of work from here on ends in an error of the device.
class FaultIn {
 public:
  explicit FaultIn(int64_t n) { emulation::set_fault(n); }
  FaultIn(const FaultIn&) = delete;
  FaultIn& operator=(const FaultIn&) = delete;
  ~FaultIn() { emulation::clear_fault(); }
};

}  // namespace farfield::test
