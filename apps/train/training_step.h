#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "apps/train/step_shape.h"
#include "engine/base/interrupt.h"
#include "engine/optim.h"
#include "engine/step_graph.h"
#include "layers/transformer.h"

namespace farfield::train {

struct StepOptions {
  StepShape shape;
  std::variant<AdamWOptions, NagOptions> optimizer = {};
  double max_norm = 1;     ///< gradients are clipped to this norm; 0: never
  bool uses_graph = true;  ///< a step is recorded once and repeated where the device can
};

/// What a step came to, before its update.
struct StepOutcome {
  double loss = 0;       ///< mean over the batch, nats per token
  double grad_norm = 0;  ///< before clipping
  bool is_finite() const;
};

/// One optimizer step of a model on one batch: forward and backward in pieces, gradient norm,
/// clipping, the update, the encoding's bounds. What training does, and what is timed as a step of
/// it.
///
/// take(), run() and outcome() in turn. The device is given all of a step and decides itself
/// whether there is an update, before the host first looks at a number: it never stands still
/// within a step.
class TrainingStep {
 public:
  /// ConfigError for a shape whose pieces are not equal, and for several pieces with a penalty on
  /// the rows of attention, which is a mean over the whole batch.
  TrainingStep(Transformer model, const StepOptions& options);

  /// The batch of the next run(), which is copied: ids int32 [batch_size, train_len]. `index` is
  /// its number, which random positions and masks depend on.
  void take(const Tensor& inputs, const Tensor& targets, int64_t index);
  /// Has the device make the step; does not wait for it. When it throws (Interrupted, when is_due
  /// says so before the update) nothing has changed.
  void run(double lr);
  /// Waits for the step. Where a number is not finite there was no update, weights and t() are as
  /// before the step, and the gradients stay until clear_gradients().
  StepOutcome outcome();
  void clear_gradients() { optimizer_->zero_grad(); }

  /// The parts of run(), none recorded. Of piece i of the batch: its mean loss; its gradient, which
  /// is added up; the update by the mean loss of the batch, float64 [].
  Tensor forward(int64_t piece) const;
  void backward(const Tensor& loss) const;
  void update(double lr, const Tensor& mean_loss);
  /// forward() and backward() of all pieces: the mean loss, float64 []. Interrupted as run().
  Tensor forward_backward() const;

  /// Takes over the weights, the moments of the optimizer and their count. IoError, with nothing
  /// changed, names a tensor that is missing, not known, or of another shape.
  void restore(const std::map<std::string, Tensor>& weights,
               const std::map<std::string, Tensor>& moments, int64_t t);

  const Transformer& model() const { return model_; }
  const std::vector<Parameter>& parameters() const { return optimizer_->parameters(); }
  const Optimizer& optimizer() const { return *optimizer_; }
  const StepShape& shape() const { return options_.shape; }
  /// How the device is given a step.
  const StepGraph& graph() const { return graph_; }

  /// Whether what is being computed is to be given up; nullptr: never. What a device has been given
  /// already it finishes.
  Interruptible::IsDue is_due = nullptr;
  /// For tests: called when the gradients of the step with this index are there, before they are
  /// looked at. Such a step is not a recorded one.
  std::function<void(int64_t index, const std::vector<Parameter>& parameters)> after_backward;

 private:
  /// All that the device does in a step, which can be recorded: it reads what take() left.
  void compute();
  void run_graph();
  void update(const Tensor& mean_loss);

  StepOptions options_;
  Device device_;
  Transformer model_;
  std::unique_ptr<Optimizer> optimizer_;
  StepGraph graph_;
  int64_t index_ = 0;
  Tensor inputs_, targets_;                 // [batch_size, train_len], always the same ones
  Tensor outcome_;                          // loss and gradient norm, float64 [2]
  std::vector<Tensor> recorded_gradients_;  // of the parameters, where a recorded step leaves them
};

}  // namespace farfield::train
