#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/device.h"

namespace farfield {

class Recording;

/// While a StepInputs object lives, uploads from the host to the device are inputs of a StepGraph's
/// work: their contents may change from run to run, see StepGraph::refill(). Kernel arguments, such
/// as shapes and numbers, are no inputs.
class StepInputs {
 public:
  explicit StepInputs(const Device& device);
  StepInputs(const StepInputs&) = delete;
  StepInputs& operator=(const StepInputs&) = delete;
  ~StepInputs();

 private:
  Device device_;
};

/// Repeated work that a device can record and replay without the host: on CUDA as a CUDA graph, so
/// that the launch of hundreds of small kernels costs nothing.
///
/// A recording holds the addresses and the kernel arguments of the recorded call. So work() must do
/// the same each time; only its inputs may change, and device memory that outlives the recording,
/// which the caller fills before run(). Tensors that work() stores stay the same tensors after each
/// replay, with new elements.
class StepGraph {
 public:
  explicit StepGraph(const Device& device);
  ~StepGraph();

  /// Does the work. The first run calls work(), which fills caches; the second run records it; this
  /// and later runs replay the recording. The CPU calls work() each time. So does a device that
  /// cannot record it: work() waits for the device or throws, or its recording needs more memory
  /// than the device has, or FARFIELD_CUDA_SYNC=1 asks to wait for each kernel. After a failed
  /// recording the same run calls work() once more, so work() must be able to start over, without
  /// side effects on the host that a second call would repeat.
  void run(const std::function<void()>& work);
  /// Call this before a run of a recording with new inputs: calls inputs(), which uploads all
  /// inputs of work() again, in the same order, and nothing else under StepInputs. If they do not
  /// fit the recording, all later runs call work(), and why_not() is `why`.
  void refill(const std::function<void()>& inputs, const std::string& why);
  /// Drops the recording, because the work has moved to other memory: the next run records again.
  void forget();
  /// All later runs call work(). `why` is what why_not() then says.
  void turn_off(const std::string& why);

  /// Whether this run or a later one may be recorded.
  bool may_be_recorded() const { return device_.kind != Device::Kind::cpu && why_not_.empty(); }
  /// Whether the next run would have work() recorded.
  bool is_next_recorded() const { return may_be_recorded() && was_called_ && !recording_; }
  bool is_recorded() const { return recording_ != nullptr; }
  /// Number of kernels, copies and memsets in the recording; 0 without one.
  int64_t n_nodes() const;
  /// Why the work is not recorded; "" when it is, or may still be.
  const std::string& why_not() const { return why_not_; }

 private:
  Device device_;
  bool was_called_ = false;
  std::string why_not_;
  std::unique_ptr<Recording> recording_;
};

}  // namespace farfield
