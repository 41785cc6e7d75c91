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
#include "engine/distributed/piece_tree.h"
#include "engine/distributed/sharded_optimizer.h"
#include "engine/distributed/tree_sum.h"
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
  bool has_one_length = true;  ///< all steps have sequences of the same length
  bool has_answers = false;    ///< the loss is of targets that are not data::kNotScored
  ProcessGrid processes = {};  ///< processes that share the batch, and processes that share a model
};

/// The result of a step, before its update.
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

/// One optimizer step of a model on one batch: forward and backward by micro-batches (pieces),
/// gradient norm, clipping, the update, the encoding's bounds. Training and timing use the same
/// class. Processes that share the batch have equal parts of it, and the same weights after each
/// step; gradients are summed while backward still runs. Processes that share a model compute each
/// micro-batch together.
///
/// take(), run() and outcome() in turn, in all processes. The device gets the whole step at once
/// and decides itself whether to update the weights, before the host reads a number: so it never
/// idles within a step of one process.
class TrainingStep {
 public:
  /// ConfigError for a shape whose micro-batches are not equal. The model's tensor group must equal
  /// the tensor group of options.processes.
  TrainingStep(Transformer model, const StepOptions& options);

  /// This process's part of the batch of the next run(), which is copied: ids int32
  /// [pieces().batch_size(), T]; T may change from step to step, which records the step anew.
  /// `index` is the batch's number, which random positions and
  /// masks depend on.
  /// `n_scored`: with has_answers, the number of scored targets in the batch of all processes.
  void take(const Tensor& inputs, const Tensor& targets, int64_t index, int64_t n_scored = 0);
  /// Starts the step on the device and does not wait for it. If it throws, nothing has changed:
  /// Interrupted, if is_due says so before the update, in all processes if in one.
  void run(double lr);
  /// Waits for the step. If a number is not finite there is no update: weights and t() stay as
  /// before the step, and the gradients stay until clear_gradients().
  StepOutcome outcome();
  void clear_gradients() { optimizer_->zero_grad(); }

  /// The sums over the micro-batches of a batch.
  struct Sums {
    PieceTree tree;
    std::vector<TreeSum> gradients;  ///< of each parameter
  };
  Sums sums() const;
  /// The parts of run() for one process, without a CUDA graph: the mean loss of micro-batch i; its
  /// gradients, in order from micro-batch 0 on, whose sum is there after the last; the update,
  /// given the mean loss of the batch, float64 [].
  Tensor forward(int64_t piece) const;
  void backward(const Tensor& loss, int64_t piece, Sums& sums) {
    backward(loss, piece, sums, false);
  }
  void update(double lr, const Tensor& mean_loss);
  /// forward() and backward() of all its micro-batches. Interrupted as run().
  void forward_backward() { forward_backward(/*sends=*/false); }

  /// Computes the gradients of the latest take() once and drops them, to measure the matrix
  /// products on the way (tune_products()). From then on all processes use the first process's
  /// choices. Interrupted as run().
  ProductChoices tune_products();

  /// Takes over the weights, the moments of the optimizer and their count. IoError, with nothing
  /// changed, names a tensor that is missing, not known, or of another shape.
  void restore(const std::map<std::string, Tensor>& weights,
               const std::map<std::string, Tensor>& moments, int64_t t);

  const Transformer& model() const { return model_; }
  /// The trained ones: Transformer::trained_parameters().
  const std::vector<Parameter>& parameters() const { return optimizer_->parameters(); }
  /// t() of the optimizer (ShardedOptimizer).
  int64_t t() const { return optimizer_->t(); }
  std::vector<std::pair<std::string, Tensor>> optimizer_state() const {
    return optimizer_->state();
  }
  const ProcessGrid& processes() const { return options_.processes; }
  const OwnPieces& pieces() const { return pieces_; }
  StepTimes times() const;
  /// How the device is given a step.
  const StepGraph& graph() const { return graph_; }

  /// Whether to give up the current computation; nullptr: never. A device finishes work that it
  /// already has. Processes that share a model check it only between micro-batches, all at the same
  /// one.
  Interruptible::IsDue is_due = nullptr;
  /// For tests: called when the gradients of this process are there in the step with this index,
  /// before they are looked at. Such a step is not a recorded one.
  std::function<void(int64_t index, const std::vector<Parameter>& parameters)> after_backward;

 private:
  void find_answers(int64_t n_scored);
  /// All that the device does in a step, which can be recorded: it reads what take() left.
  void compute();
  void compute_with_others();
  /// Interrupted in all that have the model together when it is due in one of them.
  void look_for_interrupt() const;
  /// The derivative of the batch's mean loss by the loss of a micro-batch.
  Tensor share_of(const Tensor& loss) const;
  /// The sum of the losses of this process's pieces, float64 [].
  Tensor forward_backward(bool sends);
  /// sends: each sum that is complete, while backward() goes on.
  void backward(const Tensor& loss, int64_t piece, Sums& sums, bool sends);
  /// Of a micro-batch alone: to grad(), or to the LeafGradients of this thread.
  void backward(const Tensor& loss) const;
  /// The same of pieces that threads compute at the same time, each alone; on the CPU.
  Tensor forward_backward_at_once(int64_t n_at_once, bool sends);
  /// Puts the gradient of parameter i on its way to the others, once. On the CPU threads may do so
  /// at the same time, each for parameters of its own.
  void send(size_t i, const Tensor& gradient);
  /// Agrees with all processes on the sum of the losses, the parameters that have a gradient, and
  /// the order of the buckets in the next step. Interrupted if one of them has given up.
  std::pair<double, std::vector<bool>> agree(double own_losses, bool has_given_up);
  /// Brings all that is kept rounded up to date; and whether it is.
  void keep_rounded() const;
  bool are_rounded() const;
  /// The encoding's random draw for a micro-batch.
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
  Tensor inputs_, targets_;  // [pieces_.batch_size(), T], the same for one T
  /// The places of each micro-batch that are scored, and their targets.
  struct Answers {
    Tensor rows, targets;
  };
  std::vector<Answers> answers_;  // none: all places are
  double scored_per_piece_ = 0;
  Tensor outcome_;                          // loss and gradient norm, float64 [2]
  std::vector<Tensor> recorded_gradients_;  // of the parameters, where a recorded step leaves them
  std::vector<char> is_sent_, has_gradient_;  // by parameter, in this step; bools of a byte each
  double computed_s_ = 0, updated_s_ = 0;     // as in StepTimes
};

}  // namespace farfield::train
