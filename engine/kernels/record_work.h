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
  /// Launches all of it on the device, without a wait.
  virtual void repeat() = 0;
  /// Calls work(), and replaces the inputs of the recording by its uploads under StepInputs, in the
  /// same order; waits for the device first. Returns false if their number or sizes differ: the
  /// recording is then useless.
  virtual bool refill(const std::function<void()>& work) = 0;
  /// Pieces of it: kernels, copies, memsets.
  virtual int64_t n_nodes() const = 0;
};

/// Calls work() and records its work on the device, which does nothing yet. The recording reserves
/// the memory that it uses. Rethrows errors of work(), and throws BackendError if work() waits for
/// the device; the work is then dropped. BackendError without a call of work() if
/// FARFIELD_CUDA_SYNC=1 asks to wait for each kernel.
std::unique_ptr<Recording> record_work(Cuda device, const std::function<void()>& work);
/// The CPU records nothing: null, and work() is not called.
inline std::unique_ptr<Recording> record_work(Cpu, const std::function<void()>&) { return nullptr; }

/// Whether uploads to the device from now on are inputs.
void set_step_inputs(Cuda device, bool are_inputs);
inline void set_step_inputs(Cpu, bool) {}

}  // namespace farfield
