#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "engine/base/background.h"
#include "engine/distributed/flat_layout.h"
#include "engine/distributed/group.h"

namespace farfield {

/// The gradients of a list of parameters, float32, as one array that a group sums bucket by bucket,
/// in the same order in all processes, while later gradients are still computed: on the CPU by a
/// second thread, on a device concurrently with its other work. Each process has its own part of
/// each bucket afterwards.
class GradientBuckets {
 public:
  /// `parameters` and `layout` stay the same for all steps.
  GradientBuckets(const FlatLayout& layout, const Group& group, const Device& device);
  /// Abandons sums that have begun.
  ~GradientBuckets();

  /// Begins a new step, without gradients.
  void begin();
  /// Puts the gradient of parameter i, once per step; undefined: no gradient, which other processes
  /// see as zeros. On the CPU any thread may call it, and several at once.
  void put(size_t i, const Tensor& gradient);
  /// Waits for the sums of all buckets, once each parameter has been put; on CUDA the device waits,
  /// not the host. Rethrows errors of the sums.
  void finish();
  /// Instead of finish(), after an error: the other processes wait for this one until it ends.
  void give_up();

  /// For each bucket, the number of buckets that were complete before it in this process, in this
  /// step.
  const std::vector<double>& turns() const { return turns_; }
  /// Sets the order of the next steps by such numbers, which must be the same in all processes; of
  /// equal numbers the later bucket comes first. The initial order begins with the last bucket, as
  /// backward reaches the parameters; but parameters that all layers use are complete with the
  /// first layer.
  void set_order(const std::vector<double>& turns);

  /// [layout.numel()]
  const Tensor& flat() const { return flat_; }
  /// Seconds that finish() has waited, in all steps, on the CPU.
  double waited_s() const { return waited_s_; }
  /// Seconds of the sums, from the completion of a bucket in this process to its sum, in all steps,
  /// on the CPU.
  double reduced_s() const { return reduced_s_; }

 private:
  bool is_on_host() const { return flat_.device().kind == Device::Kind::cpu; }
  Tensor bucket(int64_t k) const;
  void reduce_all();
  /// Queues the sums of the next complete buckets on the device.
  void begin_complete();
  bool wait_until_complete(int64_t bucket);

  const FlatLayout& layout_;
  Group group_;
  Tensor flat_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int64_t> missing_;  // parameters that a bucket waits for
  std::vector<double> turns_;
  double n_complete_ = 0;
  std::vector<int64_t> order_;  // buckets
  size_t n_begun_ = 0;          // of these, queued on a device
  bool is_given_up_ = false, is_running_ = false;
  double waited_s_ = 0, reduced_s_ = 0;
  Background background_;
};

}  // namespace farfield
