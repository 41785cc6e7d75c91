#include "engine/optim.h"

#include <set>

#include "engine/kernels.h"
#include "engine/kernels/adamw.h"
#include "engine/kernels/nag.h"

namespace farfield {

Tensor device_grad_norm(const std::vector<Parameter>& parameters) {
  std::vector<Tensor> gradients;
  for (const Parameter& p : parameters) {
    const Tensor gradient = p.value.grad();
    gradients.push_back(gradient.defined() ? gradient : zeros_like(p.value));
  }
  const Device device = parameters.empty() ? Device{} : parameters.front().value.device();
  Tensor norm = Tensor::empty({}, DType::f64, device);
  dispatch(device, [&](auto tag) { global_norm(tag, gradients, norm); });
  return norm;
}

void clear_gradients(const std::vector<Parameter>& parameters) {
  for (const Parameter& p : parameters) p.value.set_grad({});
}

Optimizer::Optimizer(std::string_view where, std::vector<Parameter> parameters, int64_t t)
    : where_(where), parameters_(std::move(parameters)), t_(t) {
  std::set<std::string> names;
  for (const Parameter& p : parameters_) {
    require<ConfigError>(names.insert(p.name).second, where_, "expected parameters of ",
                         "different names, got '", p.name, "' twice");
    require<DTypeError>(p.value.dtype() == DType::f32 || p.value.dtype() == DType::f64, where_,
                        "expected float32 or float64 for '", p.name, "', got ", p.value.dtype());
  }
}

Device Optimizer::device() const {
  return parameters_.empty() ? Device{} : parameters_.front().value.device();
}

void Optimizer::step(double lr, const StepGuard& guard) {
  check(guard);
  begin_update(lr);
  update(guard);
}

void Optimizer::check(const StepGuard& guard) const {
  require<ConfigError>(guard.max_norm >= 0, "clip",
                       "expected a largest norm >= 0 (0: no clipping), got ", guard.max_norm);
  for (const Tensor& x : {guard.loss, guard.grad_norm}) {
    require<ShapeError>(x.numel() == 1, where_, "expected loss and norm as scalars, got ",
                        x.shape());
    require<DTypeError>(x.dtype() == DType::f64, where_, "expected loss and norm in float64, got ",
                        x.dtype());
    for (const Parameter& p : parameters_)
      require<DeviceError>(p.value.device() == x.device(), where_, "expected loss and norm on ",
                           p.value.device(), " like '", p.name, "', got ", x.device());
  }
}

const Tensor& find_state(const std::map<std::string, Tensor>& tensors, const std::string& name,
                         const Shape& shape, DType dtype) {
  const auto found = tensors.find(name);
  require<IoError>(found != tensors.end(), "optimizer", "expected a tensor '", name,
                   "', got none of that name");
  const Tensor& source = found->second;
  require<IoError>(source.shape() == shape && source.dtype() == dtype, "optimizer", "expected '",
                   name, "' of ", dtype, " ", shape, ", got ", source.dtype(), " ", source.shape(),
                   "; is it of another model?");
  return source;
}

std::vector<std::pair<std::string, Tensor>> Optimizer::state() const {
  std::vector<std::pair<std::string, Tensor>> tensors = scalars();
  for (size_t i = 0; i < parameters_.size(); ++i)
    for (const Moment& moment : moments())
      tensors.emplace_back(parameters_[i].name + '.' + moment.name, moment.of[i]);
  return tensors;
}

void Optimizer::load_state(const std::map<std::string, Tensor>& tensors, int64_t t) {
  require<IoError>(t >= 0, "optimizer", "expected a count of updates >= 0, got ", t);
  const auto own = state();
  for (const auto& [name, target] : own) find_state(tensors, name, target.shape(), target.dtype());
  for (auto [name, target] : own) target.assign(tensors.at(name));
  t_ = t;
}

AdamW::AdamW(std::vector<Parameter> parameters, const AdamWOptions& options)
    : Optimizer("adamw", std::move(parameters), options.adam_initial_step), options_(options) {
  const auto check = [](bool ok, const char* name, const char* range, double value) {
    require<ConfigError>(ok, "adamw", "expected ", name, " ", range, ", got ", value);
  };
  check(options.beta1 >= 0 && options.beta1 < 1, "beta1", "in [0, 1)", options.beta1);
  check(options.beta2 >= 0 && options.beta2 < 1, "beta2", "in [0, 1)", options.beta2);
  check(options.eps >= 0, "eps", ">= 0", options.eps);
  check(options.weight_decay >= 0, "weight_decay", ">= 0", options.weight_decay);
  check(options.adam_initial_step >= 0, "adam_initial_step", ">= 0",
        static_cast<double>(options.adam_initial_step));
  for (const Parameter& p : parameters_) {
    m_.push_back(zeros_like(p.value));
    v_.push_back(zeros_like(p.value));
  }
  rates_ = Tensor::zeros({3}, DType::f64, device());
}

void AdamW::begin_update(double lr) {
  ++t_;
  const auto rates = adamw_rates(lr, options_.beta1, options_.beta2, options_.weight_decay, t_);
  rates_.assign(Tensor::from(rates, rates_.shape(), DType::f64));
}

void AdamW::update(const StepGuard& guard) {
  check(guard);
  std::vector<AdamWTarget> targets;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& p = parameters_[i];
    if (Tensor gradient = p.value.grad(); gradient.defined())
      targets.push_back({std::move(gradient), p.value, m_[i], v_[i], p.decay});
  }
  if (targets.empty()) return;
  const AdamWStep step{.beta1 = options_.beta1,
                       .beta2 = options_.beta2,
                       .eps = options_.eps,
                       .rates = rates_,
                       .guard = guard};
  dispatch(targets.front().param.device(), [&](auto tag) { adamw_step(tag, step, targets); });
}

std::vector<Optimizer::Moment> AdamW::moments() const {
  return {{"exp_avg", m_}, {"exp_avg_sq", v_}};
}

Nag::Nag(std::vector<Parameter> parameters, const NagOptions& options)
    : Optimizer("nag", std::move(parameters), 0), options_(options) {
  require<ConfigError>(options.momentum >= 0 && options.momentum < 1, "nag",
                       "expected momentum in [0, 1), got ", options.momentum);
  require<ConfigError>(options.weight_decay >= 0, "nag", "expected weight_decay >= 0, got ",
                       options.weight_decay);
  for (const Parameter& p : parameters_) m_.push_back(zeros_like(p.value));
  rates_ = Tensor::zeros({kNagRates}, DType::f64, device());
  previous_lr_ = Tensor::zeros({1}, DType::f64);
}

void Nag::begin_update(double lr) {
  ++t_;
  lr_before_it_ = previous_lr_.item();
  const auto rates = nag_rates(lr, lr_before_it_, options_.momentum, options_.weight_decay);
  rates_.assign(Tensor::from(rates, rates_.shape(), DType::f64));
  *previous_lr_.data<double>() = lr;
}

void Nag::take_back() {
  Optimizer::take_back();
  *previous_lr_.data<double>() = lr_before_it_;
}

void Nag::update(const StepGuard& guard) {
  check(guard);
  std::vector<NagTarget> targets;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& p = parameters_[i];
    if (Tensor gradient = p.value.grad(); gradient.defined())
      targets.push_back({std::move(gradient), p.value, m_[i], p.decay});
  }
  if (targets.empty()) return;
  const NagStep step{.rates = rates_, .guard = guard};
  dispatch(targets.front().param.device(), [&](auto tag) { nag_step(tag, step, targets); });
}

std::vector<Optimizer::Moment> Nag::moments() const { return {{"momentum", m_}}; }

std::vector<std::pair<std::string, Tensor>> Nag::scalars() const {
  return {{"previous_lr", previous_lr_}};
}

}  // namespace farfield
