#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "apps/train/own_pieces.h"
#include "apps/train/step_shape.h"
#include "engine/autograd.h"
#include "engine/base/interrupt.h"
#include "engine/distributed/sharded_optimizer.h"
#include "engine/product_choices.h"
#include "engine/step_graph.h"
#include "layers/dropout_streams.h"
#include "layers/transformer.h"

namespace farfield::train {

struct StepOptions {
  StepShape shape;
  std::variant<AdamWOptions, NagOptions> optimizer = {};
  double max_norm = 1;         ///< gradients are clipped to this norm; 0: never
  bool uses_graph = true;      ///< a step is recorded once and repeated where the device can
  ProcessGrid processes = {};  ///< those that share the batch, those that have the model together
};

/// What a step came to, before its update.
struct StepOutcome {
  double loss = 0;       ///< mean over the batch, nats per token
  double grad_norm = 0;  ///< before clipping
  bool is_finite() const;
};

/// Seconds of the steps of processes that share the batch, all together.
struct StepTimes {
  double computed_s = 0;  ///< in forward and backward
  double reduced_s = 0;   ///< in which gradients were summed, beside that and after it
  double waited_s = 0;    ///< for these sums, after it
  double updated_s = 0;   ///< in the update, which gives the new weights to all
};

/// One optimizer step of a model on one batch: forward and backward in pieces, gradient norm,
/// clipping, the update, the encoding's bounds. What training does, and what is timed as a step of
/// it. The processes that share the batch have equal parts of it, and the same weights after each
/// step; gradients are summed while backward still runs. Those that have a model together make each
/// piece together.
///
/// take(), run() and outcome() in turn, in all processes. The device is given all of a step and
/// decides itself whether there is an update, before the host first looks at a number: it never
/// stands still within a step of one process.
class TrainingStep {
 public:
  /// ConfigError for a shape whose pieces are not equal. The model's tensor group is that of
  /// options.processes.
  TrainingStep(Transformer model, const StepOptions& options);

  /// This process's part of the batch of the next run(), which is copied: ids int32
  /// [pieces().batch_size(), train_len]. `index` is the batch's number, which random positions and
  /// masks depend on.
  void take(const Tensor& inputs, const Tensor& targets, int64_t index);
  /// Has the device make the step; does not wait for it. When it throws (Interrupted, when is_due
  /// says so before the update, in all processes if in one) nothing has changed.
  void run(double lr);
  /// Waits for the step. Where a number is not finite there was no update, weights and t() are as
  /// before the step, and the gradients stay until clear_gradients().
  StepOutcome outcome();
  void clear_gradients() { optimizer_->zero_grad(); }

  /// The parts of run() of one process, none recorded. Of piece i of its part: its mean loss; its
  /// gradient, which is added up; the update by the mean loss of the batch, float64 [].
  Tensor forward(int64_t piece) const;
  void backward(const Tensor& loss) const;
  void update(double lr, const Tensor& mean_loss);
  /// forward() and backward() of all of its pieces. Interrupted as run().
  void forward_backward() { forward_backward(/*sends=*/false); }

  /// Computes the gradients of the batch of the latest take() once, to measure the products on the
  /// way (tune_products()), and drops them. The choices are in use from then on, in all processes
  /// those of the first. Interrupted as run().
  ProductChoices tune_products();

  /// Takes over the weights, the moments of the optimizer and their count. IoError, with nothing
  /// changed, names a tensor that is missing, not known, or of another shape.
  void restore(const std::map<std::string, Tensor>& weights,
               const std::map<std::string, Tensor>& moments, int64_t t);

  const Transformer& model() const { return model_; }
  const std::vector<Parameter>& parameters() const { return optimizer_->parameters(); }
  /// Of the optimizer, as ShardedOptimizer's.
  int64_t t() const { return optimizer_->t(); }
  std::vector<std::pair<std::string, Tensor>> optimizer_state() const {
    return optimizer_->state();
  }
  const ProcessGrid& processes() const { return options_.processes; }
  const OwnPieces& pieces() const { return pieces_; }
  StepTimes times() const;
  /// How the device is given a step.
  const StepGraph& graph() const { return graph_; }

  /// Whether what is being computed is to be given up; nullptr: never. What a device has been given
  /// already it finishes. Those that have a model together look at it between pieces alone, all at
  /// the same one.
  Interruptible::IsDue is_due = nullptr;
  /// For tests: called when the gradients of this process are there in the step with this index,
  /// before they are looked at. Such a step is not a recorded one.
  std::function<void(int64_t index, const std::vector<Parameter>& parameters)> after_backward;

 private:
  /// All that the device does in a step, which can be recorded: it reads what take() left.
  void compute();
  void compute_with_others();
  /// Interrupted in all that have the model together when it is due in one of them.
  void look_for_interrupt() const;
  /// What the mean of the batch's losses changes by, for each change of a piece's.
  Tensor share_of(const Tensor& loss) const;
  /// The sum of the losses of this process's pieces, float64 [].
  Tensor forward_backward(bool sends);
  /// The same of pieces that threads compute at the same time, each alone; on the CPU.
  Tensor forward_backward_at_once(int64_t n_at_once, bool sends);
  /// Puts the gradient of parameter i on its way to the others, once. On the CPU threads may do so
  /// at the same time, each for parameters of its own.
  void send(size_t i, const Tensor& gradient);
  /// What all have come to: the sum of the losses, and which parameters have a gradient; and the
  /// order in which their buckets go on their way in the next step. Interrupted when one of them
  /// has given up.
  std::pair<double, std::vector<bool>> agree(double own_losses, bool has_given_up);
  /// Brings all that is kept rounded up to date; and whether it is.
  void keep_rounded() const;
  bool are_rounded() const;
  /// What the encoding draws for a piece.
  posenc::Draw draw_of(int64_t piece) const;
  void draw_positions();
  void run_graph();
  void forget_recording();
  void update(const Tensor& mean_loss, const std::vector<bool>& have_gradient);

  StepOptions options_;
  OwnPieces pieces_;
  Device device_;
  Transformer model_;
  std::unique_ptr<ShardedOptimizer> optimizer_;
  LeafGradients::Numbers number_of_;       // of a parameter
  std::vector<Tensor> rounded_;            // weights that are kept rounded, and updated so
  std::optional<DropoutStreams> streams_;  // of a recorded step
  StepGraph graph_;
  int64_t index_ = 0;
  Tensor inputs_, targets_;                 // [pieces_.batch_size(), train_len], always the same
  Tensor outcome_;                          // loss and gradient norm, float64 [2]
  std::vector<Tensor> recorded_gradients_;  // of the parameters, where a recorded step leaves them
  std::vector<char> is_sent_, has_gradient_;  // by parameter, in this step; bools of a byte each
  double computed_s_ = 0, updated_s_ = 0;     // as in StepTimes
};

}  // namespace farfield::train
