#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/parameter.h"
#include "engine/step_guard.h"

namespace farfield {

/// L2 norm of all gradients together, float64 [] on the device of the parameters, which is not
/// waited for. Summed in the order of the list, so the same bits for any number of threads. A
/// parameter without a gradient counts as zeros. NaN or infinite when a gradient is.
Tensor device_grad_norm(const std::vector<Parameter>& parameters);

/// Sets every gradient to "none"; its memory goes back to the allocator.
void clear_gradients(const std::vector<Parameter>& parameters);

/// Turns gradients into updates of a list of parameters, and keeps the state for that.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// One update with gradients clipped to guard.max_norm. The device decides: if loss or norm is
  /// not finite, it writes nothing. The update counts in t() all the same; a caller that finds the
  /// two not finite takes the count back. Does not wait. A parameter without a gradient stays as it
  /// is. A parameter that keeps itself rounded (Tensor::keep_rounded()) still does. ConfigError for
  /// max_norm < 0, DTypeError, ShapeError and DeviceError for other than two float64 scalars on the
  /// device of the parameters.
  void step(double lr, const StepGuard& guard);
  /// The same in two parts: the first uploads the rates of an update and counts it, the second
  /// makes the update. The device's work of the second part depends on nothing else that changes
  /// from step to step, so it can be recorded once and replayed (step_graph.h).
  virtual void begin_update(double lr) = 0;
  virtual void update(const StepGuard& guard) = 0;
  /// Takes the count of the latest update back, because it wrote nothing.
  virtual void take_back() { --t_; }
  void zero_grad() { clear_gradients(parameters_); }

  /// Updates made so far.
  int64_t t() const { return t_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }

  /// The state for a checkpoint beside t(), by name, sharing storage with the optimizer: scalars(),
  /// and "<parameter>.<moment>" of each parameter.
  std::vector<std::pair<std::string, Tensor>> state() const;
  /// A state tensor of each parameter, with the parameter's shape.
  struct Moment {
    std::string name;
    const std::vector<Tensor>& of;  ///< in the order of the parameters
  };
  virtual std::vector<Moment> moments() const = 0;
  /// State that exists once.
  virtual std::vector<std::pair<std::string, Tensor>> scalars() const { return {}; }
  /// Copies such tensors in and sets t. IoError names a tensor that is missing or of another shape
  /// or dtype; nothing has changed then. Other names in the map are ignored.
  void load_state(const std::map<std::string, Tensor>& tensors, int64_t t);

 protected:
  /// `where` begins its messages. DTypeError unless parameters are float32 or float64, ConfigError
  /// for two of one name.
  Optimizer(std::string_view where, std::vector<Parameter> parameters, int64_t t);
  Optimizer(const Optimizer&) = default;
  Optimizer(Optimizer&&) = default;
  Optimizer& operator=(const Optimizer&) = default;
  Optimizer& operator=(Optimizer&&) = default;
  void check(const StepGuard& guard) const;
  Device device() const;

 private:
  std::string_view where_;

 protected:
  std::vector<Parameter> parameters_;
  int64_t t_;
};

/// The tensor of this name in a checkpoint, like `own` in shape and dtype; IoError otherwise.
const Tensor& find_state(const std::map<std::string, Tensor>& tensors, const std::string& name,
                         const Shape& shape, DType dtype);

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
class AdamW final : public Optimizer {
 public:
  /// Moments start at zero. ConfigError for options out of range, DTypeError unless parameters are
  /// float32 or float64, ConfigError for two parameters of one name. t() counts adam_initial_step
  /// too: it is the t of the latest update.
  explicit AdamW(std::vector<Parameter> parameters, const AdamWOptions& options = {});

  void begin_update(double lr) override;
  void update(const StepGuard& guard) override;
  /// "exp_avg" (m) and "exp_avg_sq" (v).
  std::vector<Moment> moments() const override;

 private:
  std::vector<Tensor> m_, v_;
  Tensor rates_;  // of the next update: adamw_rates()
  AdamWOptions options_;
};

struct NagOptions {
  double momentum = 0.99;   ///< of the velocity, per update
  double weight_decay = 0;  ///< decoupled: x -= lr weight_decay x, where Parameter::decay
};

/// Nesterov's accelerated gradient in the form of fairseq's optim/nag.py, whose velocity m is in
/// the unit of the update: with c = lr / lr of the update before (1 for the first),
///   x = x - lr weight_decay x + momentum^2 c m - (1 + momentum) lr g,  m = momentum c m - lr g
class Nag final : public Optimizer {
 public:
  /// The velocity starts at zero. Errors as AdamW's.
  explicit Nag(std::vector<Parameter> parameters, const NagOptions& options = {});

  void begin_update(double lr) override;
  void update(const StepGuard& guard) override;
  void take_back() override;
  /// "momentum" (m).
  std::vector<Moment> moments() const override;
  /// "previous_lr", float64 [1].
  std::vector<std::pair<std::string, Tensor>> scalars() const override;

 private:
  std::vector<Tensor> m_;
  Tensor rates_;             // of the next update: nag_rates()
  Tensor previous_lr_;       // of the latest update; on the host
  double lr_before_it_ = 0;  // of the update before that
  NagOptions options_;
};

}  // namespace farfield
