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

/// An optimizer of the processes that share a batch, of which each keeps the state and makes the
/// update of its own part of the parameters and then gets the others' (ZeRO stage 1: Rajbhandari et
/// al. 2020, arXiv:1910.02054, section 5.1). Alone, it is the optimizer itself. Where several
/// processes have a model together, the parameters are the shards of each.
///
/// On the CPU the gradient norm, and with it the update, have the same bits for any number of
/// processes that share the batch of a model which each has all of.
class ShardedOptimizer {
 public:
  using Make = std::function<std::unique_ptr<Optimizer>(std::vector<Parameter>)>;

  /// DTypeError unless the parameters of several that share a batch are float32.
  ShardedOptimizer(std::vector<Parameter> parameters, const ProcessGrid& processes,
                   const Make& make);

  const std::vector<Parameter>& parameters() const { return parameters_; }
  const ProcessGrid& processes() const { return processes_; }
  bool is_sharded() const { return buckets_ != nullptr; }
  /// Where the gradients of a step go, when sharded: all of them have been put and summed before
  /// grad_norm() and update().
  GradientBuckets& buckets() { return *buckets_; }

  /// L2 norm of the summed gradients, float64 [].
  Tensor grad_norm() const;
  void begin_update(double lr) { own_->begin_update(lr); }
  /// With the parameters that have_gradient says, by number; when sharded. The weights are then the
  /// same in all processes.
  void update(const StepGuard& guard, const std::vector<bool>& have_gradient);
  void take_back() { own_->take_back(); }
  void zero_grad() { clear_gradients(parameters_); }
  int64_t t() const { return own_->t(); }

  /// What a checkpoint keeps, by the names of the whole parameters: of several processes, collected
  /// from all, which all call this; only the first has the result.
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
  /// state() of the parameters of this process, in the first that shares their batch.
  std::vector<std::pair<std::string, Tensor>> own_state() const;

  std::vector<Parameter> parameters_;
  ProcessGrid processes_;
  FlatLayout layout_;
  std::unique_ptr<GradientBuckets> buckets_;
  std::vector<Shard> shards_;
  std::unique_ptr<Optimizer> own_;  // of the shards, or of the parameters
};

}  // namespace farfield
