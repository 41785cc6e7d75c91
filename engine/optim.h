#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/parameter.h"
#include "engine/step_guard.h"

namespace farfield {

/// L2 norm of all gradients together, float64 [] on the device of the parameters, which is not
/// waited for. Summed in the order of the list, so the same bits for any number of threads. A
/// parameter without a gradient counts as zero. NaN or infinite when a gradient is.
Tensor device_grad_norm(const std::vector<Parameter>& parameters);

/// Sets every gradient to "none"; its memory goes back to the allocator.
void clear_gradients(const std::vector<Parameter>& parameters);

struct AdamWOptions {
  double beta1 = 0.9;             ///< decay of the running mean of gradients, per update
  double beta2 = 0.999;           ///< decay of the running mean of squared gradients, per update
  double eps = 1e-8;              ///< added to the bias-corrected square root
  double weight_decay = 0;        ///< decoupled: x -= lr weight_decay x, where Parameter::decay
  int64_t adam_initial_step = 0;  ///< updates counted before the first; 1 repeats published runs,
                                  ///< whose wrapper makes one empty step
};

/// Adam with decoupled weight decay (Loshchilov and Hutter 2019, arXiv:1711.05101):
///   m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2
///   x = x - lr (weight_decay x + (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps))
class AdamW {
 public:
  /// Moments start at zero. ConfigError for options out of range, DTypeError unless parameters are
  /// float32 or float64, ConfigError for two parameters of one name.
  explicit AdamW(std::vector<Parameter> parameters, const AdamWOptions& options = {});

  /// One update with gradients clipped to guard.max_norm, decided on the device: unless loss and
  /// norm are finite it writes nothing. It counts all the same; whoever reads the two afterwards
  /// takes the count back. Nobody waits. A parameter without a gradient stays as it is.
  /// ConfigError for max_norm < 0, DTypeError, ShapeError and DeviceError for other than two
  /// float64 scalars on the device of the parameters.
  void step(double lr, const StepGuard& guard);
  /// The same in two parts: what the host says of an update, which counts it, and the update. The
  /// device's work of the second depends on nothing that changes from step to step but what the
  /// first has put into its memory, so it can be recorded once and repeated (step_graph.h).
  void begin_update(double lr);
  void update(const StepGuard& guard);
  /// The latest update wrote nothing.
  void take_back() { --t_; }
  void zero_grad() { clear_gradients(parameters_); }

  /// Updates made so far, adam_initial_step included: the t of the latest one.
  int64_t t() const { return t_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }

  /// What a checkpoint keeps beside t(): "<parameter>.exp_avg" (m) and "<parameter>.exp_avg_sq"
  /// (v), sharing storage with the optimizer.
  std::vector<std::pair<std::string, Tensor>> state() const;
  /// Copies moments in and sets t. IoError names a tensor that is missing or of another shape or
  /// dtype; nothing has changed then. Other names in the map are ignored.
  void load_state(const std::map<std::string, Tensor>& tensors, int64_t t);

 private:
  void check(const StepGuard& guard) const;

  std::vector<Parameter> parameters_;
  std::vector<Tensor> m_, v_;
  Tensor rates_;  // of the next update: adamw_rates()
  AdamWOptions options_;
  int64_t t_;
};

}  // namespace farfield
