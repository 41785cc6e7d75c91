#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "engine/device.h"

namespace farfield {

/// Work that a device has recorded.
class Recording {
 public:
  virtual ~Recording() = default;
  /// Gives the device all of it; nobody waits.
  virtual void repeat() = 0;
  /// What goes to the device as an input (StepInputs) while work() runs takes the place of what the
  /// recording reads, in the order in which it came there; waits for the device first. False when
  /// they are not as many, or not of the same sizes: the recording is of no more use then.
  virtual bool refill(const std::function<void()>& work) = 0;
  /// Pieces of it: kernels, copies, memsets.
  virtual int64_t n_nodes() const = 0;
};

/// Calls work(), of which the device does nothing yet. What it is given there goes on using the
/// same memory, which is reserved for it. What work() throws is thrown here, and BackendError when
/// it waited for the device; then nothing was done. BackendError, and work() is not called, where
/// each kernel is to be waited for: FARFIELD_CUDA_SYNC=1 in the environment.
std::unique_ptr<Recording> record_work(Cuda device, const std::function<void()>& work);
/// The CPU records nothing: null, and work() is not called.
inline std::unique_ptr<Recording> record_work(Cpu, const std::function<void()>&) { return nullptr; }

/// Whether what goes to the device from now on is an input.
void set_step_inputs(Cuda device, bool are_inputs);
inline void set_step_inputs(Cpu, bool) {}

}  // namespace farfield
