#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/run/checkpoint.h"
#include "apps/run/resolved_config.h"
#include "apps/run/training_data.h"
#include "apps/train/training_step.h"
#include "data/prefetcher.h"

namespace farfield::train {

/// The result of one optimizer step.
struct StepResult {
  int64_t step = 0;      ///< 1 for the first
  double loss = 0;       ///< mean over the batch before the update, nats per token
  double grad_norm = 0;  ///< before clipping
  double lr = 0;
  /// Empty if all numbers are finite; else the step, the batch's place in the data and the first
  /// tensor that is not finite. The weights then stay as before the step, and the step does not
  /// count as done.
  std::string problem;
};

/// The computation of a run: weights, optimizer, data, one step after the other. What it does next
/// is a pure function of (config, data, state()) and the tensors below. No files. The processes of
/// a group make each call together, and all have its result, unless said otherwise.
class Trainer {
 public:
  /// Changes the random initial weights of a model.
  using Initialize = std::function<void(Transformer&)>;

  /// At step 0, with initial weights. ConfigError when the train split is shorter than one
  /// sequence, or the group cannot be divided as config says.
  Trainer(const run::ResolvedConfig& config, const run::TrainingData& data, const Group& group = {},
          const Initialize& initialize = {});

  /// Restores a checkpoint. IoError names a tensor that is missing, unknown, or of another shape;
  /// ConfigError names the first setting that differs, or other data. On an error nothing changes.
  void restore(const run::Checkpoint& checkpoint);
  /// Leaves out this step when its turn comes.
  void leave_out(int64_t step) { left_out_.insert(step); }

  bool is_done() const { return done_ >= config_.steps; }
  /// Whether the next step is one to leave out.
  bool is_next_left_out() const { return left_out_.count(done_ + 1) > 0; }
  /// Interrupted when give_up_when() says so before the update: nothing has changed then, and the
  /// next call makes the same step.
  StepResult step();
  /// Counts the next step as done without looking at its batch.
  void skip_step() { ++done_; }

  /// Mean over fixed windows of the valid split, of an encoder over masked tokens of these, of
  /// several corpora over windows of each by its weight; empty when one has no valid split, or one
  /// shorter than a sequence. Interrupted as step().
  std::optional<double> valid_loss();
  /// Number of windows of valid_loss(): as requested, or all windows of the valid splits.
  int64_t n_valid_window() const;

  /// Measures the products of the next step: TrainingStep::tune_products().
  ProductChoices tune_products();

  const run::ResolvedConfig& config() const { return config_; }
  run::TrainState state() const;
  /// Parameters of the whole model, without adapters.
  int64_t n_parameter() const;
  /// Parameters that are trained.
  int64_t n_trained() const;
  /// Sharing storage with the weights; of processes that have the model together, collected from
  /// all: in the first alone.
  run::NamedTensors model_tensors() const;
  /// Collected from all processes; only the first has the result.
  run::NamedTensors optimizer_tensors() const { return step_.optimizer_state(); }
  const Transformer& model() const { return step_.model(); }
  /// Seconds of state().time_s in which the device had nothing to do for want of data.
  double waited_s() const { return batches_.waited_s(); }
  /// Seconds of state().time_s in which gradients of other processes were waited for.
  double waited_for_sums_s() const { return step_.times().waited_s; }
  const Group& group() const { return step_.processes().all; }
  /// How the device is given a step.
  const StepGraph& graph() const { return step_.graph(); }

  /// Gives up computations when is_due says so; a device finishes work that it already has.
  void give_up_when(Interruptible::IsDue is_due) { step_.is_due = is_due; }
  /// For tests: called with the number of each step, as in its result, and all parameters when its
  /// gradients are there, before they are looked at.
  void call_after_backward(std::function<void(int64_t, const std::vector<Parameter>&)> call);

 private:
  Trainer(const run::ResolvedConfig& config, const run::TrainingData& data,
          const ProcessGrid& processes, const Initialize& initialize);

  /// The batch of a step, this process's tokens on the device too.
  struct Tokens {
    int64_t step = 0;  ///< steps before it
    data::Batch batch;
    int64_t n_scored = 0;    // targets of the whole batch
    Tensor inputs, targets;  // [step_.pieces().batch_size(), batch.seq_len]
  };
  Tokens tokens_of(int64_t step);
  /// The summed loss of each of n windows of the valid split, the first at its start and the last
  /// at its end.
  std::vector<double> window_losses(const data::Corpus& corpus, int64_t n);
  /// The same of windows of train_len + 1 tokens, one after another; `first` is the number of the
  /// first.
  std::vector<double> losses_of(const std::vector<int32_t>& windows, int64_t first) const;
  std::vector<int64_t> valid_windows() const;
  std::string describe(const Tokens& tokens, const StepOutcome& outcome);

  run::ResolvedConfig config_;
  std::string data_hash_;
  std::vector<data::Corpus> valid_;  // corpora of the run; none if one of them has no valid split
  std::vector<double> weights_;      // of the corpora
  data::Prefetcher batches_;
  data::Masking masking_;  // of an encoder on text
  TrainingStep step_;
  std::optional<Tokens> next_;  // on their way to the device while it computes
  int64_t done_ = 0, tokens_ = 0;
  double time_s_ = 0;
  std::set<int64_t> left_out_;
};

}  // namespace farfield::train
