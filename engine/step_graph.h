#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/device.h"

namespace farfield {

class Recording;

/// What goes from the host to a device while it lives is an input of the work of a StepGraph: it
/// may be another each time, see StepGraph::refill(). On CUDA copies to the device; not what
/// kernels are told, as shapes and numbers.
class StepInputs {
 public:
  explicit StepInputs(const Device& device);
  StepInputs(const StepInputs&) = delete;
  StepInputs& operator=(const StepInputs&) = delete;
  ~StepInputs();

 private:
  Device device_;
};

/// The same work again and again, which a device can record and repeat without the host: on CUDA a
/// graph, so that the launch of hundreds of small kernels costs nothing.
///
/// What is recorded is what the device was asked to do once, with the addresses and the numbers of
/// that time. So work() must be the same each time but for what lies in device memory that outlives
/// the recording, which the caller fills before run(), and for its inputs. Tensors that work()
/// leaves in its owner are the same ones after each repetition, with new elements.
class StepGraph {
 public:
  explicit StepGraph(const Device& device);
  ~StepGraph();

  /// Does the work. The first run calls work(), which fills whatever keeps something for later
  /// calls; the second has it recorded; this and the others repeat the recording. The CPU calls
  /// work() each time, and so does a device that could not record it: because work() waited for the
  /// device, or threw, or needs more memory when it is recorded than the device has, or since each
  /// kernel is to be waited for (FARFIELD_CUDA_SYNC=1). It is then called once more in the same
  /// run, so it must begin anew and change nothing of the host that a second call would change
  /// again.
  void run(const std::function<void()>& work);
  /// Before a run of a recording whose inputs are others: calls inputs(), which gives the device
  /// all those of work() again, in the same order, and nothing else under StepInputs. When they do
  /// not fit what was recorded, all runs from now on call work(), and why_not() is `why`.
  void refill(const std::function<void()>& inputs, const std::string& why);
  /// The recording is no longer right, since the work has moved to other memory: the next run makes
  /// another.
  void forget();
  /// Has all runs from now on call work(). `why` as why_not() says it.
  void turn_off(const std::string& why);

  /// Whether this run or a later one is a recording's.
  bool may_be_recorded() const { return device_.kind != Device::Kind::cpu && why_not_.empty(); }
  /// Whether the next run would have work() recorded.
  bool is_next_recorded() const { return may_be_recorded() && was_called_ && !recording_; }
  bool is_recorded() const { return recording_ != nullptr; }
  /// Of the recording: kernels, copies and memsets; 0 without one.
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
