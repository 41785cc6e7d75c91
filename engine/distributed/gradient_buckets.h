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
/// in an order that all keep to, while the others are still computed: on the CPU by a thread beside
/// the caller's, on a device beside what it computes. Each process has its own part of each bucket
/// afterwards.
class GradientBuckets {
 public:
  /// `parameters` and `layout` are those of all steps.
  GradientBuckets(const FlatLayout& layout, const Group& group, const Device& device);
  /// Gives up what has begun.
  ~GradientBuckets();

  /// A new step: no gradient is there.
  void begin();
  /// The gradient of parameter i, once; undefined: none, zeros for the others. On the CPU any
  /// thread may call it, and several at once.
  void put(size_t i, const Tensor& gradient);
  /// Waits for the sums of all buckets, once each parameter has been put; a device does, not the
  /// host. Rethrows what went wrong with them.
  void finish();
  /// Instead of finish(): the other processes wait for this one until it ends.
  void give_up();

  /// Of each bucket, how many were complete before it here, in this step.
  const std::vector<double>& turns() const { return turns_; }
  /// The order of the next steps: by such numbers, which must be the same in all processes, the
  /// later bucket first where they are equal. At first it is from the last bucket on, as backward
  /// comes to the parameters; but what all layers use is complete with the first layer.
  void set_order(const std::vector<double>& turns);

  /// [layout.numel()]
  const Tensor& flat() const { return flat_; }
  /// Seconds that finish() has waited, in all steps, on the CPU.
  double waited_s() const { return waited_s_; }
  /// Seconds that sums have taken, from a bucket being complete here to its sum being there, in all
  /// steps, on the CPU.
  double reduced_s() const { return reduced_s_; }

 private:
  bool is_on_host() const { return flat_.device().kind == Device::Kind::cpu; }
  Tensor bucket(int64_t k) const;
  void reduce_all();
  /// Has the device sum the buckets whose turn it is.
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
  size_t n_begun_ = 0;          // of these a device has been given
  bool is_given_up_ = false, is_running_ = false;
  double waited_s_ = 0, reduced_s_ = 0;
  Background background_;
};

}  // namespace farfield
