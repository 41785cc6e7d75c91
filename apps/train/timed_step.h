#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "apps/train/training_step.h"

namespace farfield::train {

/// Tokens for measurements that do not depend on the text: the same for the same arguments.
std::vector<int32_t> made_up_tokens(int64_t n, int64_t vocab_size);

/// A training step on made-up tokens, from initial weights: for timing a step. An encoder is asked
/// for about 15 % of them.
class TimedStep {
 public:
  /// uses_graph, processes  as in StepOptions
  TimedStep(const ModelConfig& config, const StepShape& shape, DType dtype, const Device& device,
            bool uses_graph = true, const ProcessGrid& processes = {});

  ProductChoices tune_products() { return step_.tune_products(); }
  /// A step. Seconds, the device being waited for before each look at the clock.
  double run();
  /// The same in parts, each waited for and none recorded: seconds of forward, backward and update.
  /// `after` is told of each part, by its place among them.
  std::array<double, 3> run_parts(const std::function<void(size_t part)>& after = {});

  /// The peak of all run() calls by the allocator: weights, moments, gradients and activations
  /// together.
  int64_t peak_bytes() const { return peak_bytes_; }
  const StepGraph& graph() const { return step_.graph(); }
  /// The number of run() calls and their times, for several processes also by parts.
  int64_t n_run() const { return n_run_; }
  double run_s() const { return run_s_; }
  StepTimes times() const { return step_.times(); }

 private:
  Device device_;
  int64_t before_;
  TrainingStep step_;
  int64_t own_bytes_, peak_bytes_ = 0;
  int64_t n_run_ = 0;
  double run_s_ = 0;
};

}  // namespace farfield::train
