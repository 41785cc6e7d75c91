#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/run/checkpoint.h"
#include "apps/run/config.h"
#include "data/corpus.h"
#include "data/loader.h"
#include "engine/base/interrupt.h"
#include "engine/optim.h"
#include "engine/step_graph.h"
#include "layers/transformer.h"

namespace farfield::train {

/// What one optimizer step came to.
struct StepResult {
  int64_t step = 0;      ///< 1 for the first
  double loss = 0;       ///< mean over the batch before the update, nats per token
  double grad_norm = 0;  ///< before clipping
  double lr = 0;
  /// Empty, or what was not finite: the step, the batch's place in the data, the first tensor that
  /// went wrong. The weights are then as before the step, and the step does not count as done.
  std::string problem;
};

/// The computation of a run: weights, optimizer, data, one step after the other. What it does next
/// is a pure function of (config, corpus, state()) and the tensors below. No files.
class Trainer {
 public:
  /// At step 0, with initial weights. The config must be resolved. ConfigError when the train split
  /// is shorter than one sequence.
  Trainer(const run::RunConfig& config, const data::Corpus& corpus);

  /// Takes over what a checkpoint holds. IoError names a tensor that is missing, not known, or of
  /// another shape; ConfigError names the first setting that differs, or other data. Nothing has
  /// changed then.
  void restore(const run::Checkpoint& checkpoint);
  /// Leaves out this step when its turn comes.
  void leave_out(int64_t step) { left_out_.insert(step); }

  bool is_done() const { return step_ >= *config_.steps; }
  /// Whether the next step is one to leave out.
  bool is_next_left_out() const { return left_out_.count(step_ + 1) > 0; }
  /// Interrupted when is_due says so before the update: nothing has changed then, and the next call
  /// makes the same step.
  StepResult step();
  /// Counts the next step as done without looking at its batch.
  void skip_step() { ++step_; }

  /// Mean over fixed windows of the valid split; empty when that is shorter than one sequence.
  /// Interrupted as step().
  std::optional<double> valid_loss();

  const run::RunConfig& config() const { return config_; }
  run::TrainState state() const;
  /// Sharing storage with the weights.
  run::NamedTensors model_tensors() const;
  run::NamedTensors optimizer_tensors() const { return optimizer_.state(); }
  const Transformer& model() const { return model_; }
  /// How the device is given a step.
  const StepGraph& graph() const { return graph_; }

  /// Whether what is being computed is to be given up; nullptr: never. What a device has been given
  /// already it finishes.
  Interruptible::IsDue is_due = nullptr;

  /// For tests: called when the gradients of a step are there, before they are looked at. Such a
  /// step is not a recorded one.
  std::function<void(int64_t step, const std::vector<Parameter>& parameters)> after_backward;

 private:
  /// The batch of a step, its tokens on the device too.
  struct Tokens {
    int64_t step = 0;  ///< steps before it
    data::Batch batch;
    Tensor inputs, targets;  // [batch_size, train_len]
  };
  Tokens tokens_of(int64_t step) const;
  /// All that the device does in a step, which can be recorded: it reads now_ and leaves outcome_.
  void compute();
  void run_graph();
  Tensor forward_backward(const Tokens& tokens) const;
  std::string describe(const Tokens& tokens, double loss, double norm);

  run::RunConfig config_;
  std::string data_hash_;
  data::TokenFile valid_;
  data::Loader loader_;
  Device device_;
  Transformer model_;
  std::vector<Parameter> parameters_;
  AdamW optimizer_;
  std::optional<Tokens> next_;  // on their way to the device while it computes
  Tokens now_;                  // of this step, always in the same tensors; without their batch
  Tensor outcome_;              // loss and gradient norm, float64 [2]
  StepGraph graph_;
  std::vector<Tensor> recorded_gradients_;  // of the parameters, where a recorded step leaves them
  int64_t step_ = 0, tokens_ = 0;
  double time_s_ = 0;
  std::set<int64_t> left_out_;
};

}  // namespace farfield::train
