#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/distributed/gradient_buckets.h"
#include "engine/distributed/process_grid.h"
#include "engine/optim.h"

namespace farfield {

/// An optimizer of processes that share a batch: each process keeps the optimizer state of its own
/// part of the parameters, updates that part, and then gets the other parts (ZeRO stage 1:
/// Rajbhandari et al. 2020, arXiv:1910.02054, section 5.1). A single process uses the optimizer
/// itself. With tensor parallelism the parameters are the shards of each process.
///
/// Without tensor parallelism, the gradient norm and the update on the CPU have the same bits for
/// any number of processes that share the batch.
class ShardedOptimizer {
 public:
  using Make = std::function<std::unique_ptr<Optimizer>(std::vector<Parameter>)>;

  /// DTypeError unless the parameters of several that share a batch are float32.
  ShardedOptimizer(std::vector<Parameter> parameters, const ProcessGrid& processes,
                   const Make& make);

  const std::vector<Parameter>& parameters() const { return parameters_; }
  const ProcessGrid& processes() const { return processes_; }
  bool is_sharded() const { return buckets_ != nullptr; }
  /// The gradients of a step, when sharded: all must be put and summed before grad_norm() and
  /// update().
  GradientBuckets& buckets() { return *buckets_; }

  /// L2 norm of the summed gradients, float64 [].
  Tensor grad_norm() const;
  void begin_update(double lr) { own_->begin_update(lr); }
  /// Updates the parameters for which have_gradient is true, by number, when sharded. Afterwards
  /// the weights are the same in all processes.
  void update(const StepGuard& guard, const std::vector<bool>& have_gradient);
  void take_back() { own_->take_back(); }
  void zero_grad() { clear_gradients(parameters_); }
  int64_t t() const { return own_->t(); }

  /// The state for a checkpoint, by the names of the whole parameters. All processes call this, and
  /// it collects their parts; only the first has the result.
  std::vector<std::pair<std::string, Tensor>> state() const;
  /// Takes each process's part of such tensors. IoError as Optimizer::load_state().
  void load_state(const std::map<std::string, Tensor>& tensors, int64_t t);

 private:
  /// A range of a parameter that this process updates.
  struct Shard {
    FlatLayout::Segment segment;
    Tensor value;  // [n]
  };
  std::vector<comm::Range> own_ranges() const;
  Device device() const;
  Tensor grad_norm_of_shards() const;
  /// state() of the parameters of this process, in the first process that shares their batch.
  std::vector<std::pair<std::string, Tensor>> own_state() const;

  std::vector<Parameter> parameters_;
  ProcessGrid processes_;
  FlatLayout layout_;
  std::unique_ptr<GradientBuckets> buckets_;
  std::vector<Shard> shards_;
  std::unique_ptr<Optimizer> own_;  // of the shards, or of the parameters
};

}  // namespace farfield
