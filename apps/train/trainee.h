#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "apps/train/step_shape.h"
#include "engine/optim.h"
#include "engine/step_graph.h"
#include "layers/transformer.h"

namespace farfield::train {

/// Tokens for what is measured whatever the text: the same for the same numbers.
std::vector<int32_t> made_up_tokens(int64_t n, int64_t vocab_size);

/// A model in training on made-up tokens, from initial weights: for measuring what a step takes.
class Trainee {
 public:
  /// uses_graph  whether a step is recorded and repeated where the device can (step_graph.h)
  Trainee(const ModelConfig& config, const StepShape& shape, DType dtype, const Device& device,
          bool uses_graph = true);

  /// Forward, backward, gradient norm, clipping and update: what training does. Seconds, the device
  /// being waited for before each look at the clock.
  double run();
  /// The same in parts, each waited for and none recorded: seconds of forward, backward and update.
  /// The whole batch in one piece.
  std::array<double, 3> run_parts();

  /// Of weights, moments, gradients and activations together, the most of any run(): the
  /// allocator's.
  int64_t peak_bytes() const { return peak_bytes_; }
  const StepGraph& graph() const { return graph_; }

 private:
  Tensor forward_backward();
  void update(const Tensor& loss);

  StepShape shape_;
  Device device_;
  int64_t before_, own_bytes_ = 0, peak_bytes_ = 0;
  Transformer model_;
  AdamW optimizer_;
  StepGraph graph_;
  Tensor ids_;
};

}  // namespace farfield::train
