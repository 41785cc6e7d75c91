#include "posenc/head_parameter.h"

#include <algorithm>
#include <cmath>

#include "engine/autograd.h"
#include "engine/base/random.h"
#include "engine/kernels/pointwise.h"
#include "engine/ops.h"

namespace farfield::posenc {
namespace {

std::vector<double> initial_values(const Arguments& a, const Config& c, std::string_view argument,
                                   const std::string& name, double low, double high) {
  if (a.has(argument)) return a.per_head(argument);
  const Random random{c.seed, stream_of("posenc." + name)};
  std::vector<double> values;
  for (int64_t h = 0; h < c.n_head; ++h)
    values.push_back(low + (high - low) * random.uniform(static_cast<uint64_t>(h)));
  return values;
}

// max(x, bound) whose gradient is that of x.
Tensor clamp_straight_through(const Tensor& x, double bound) {
  Tensor y;
  {
    const NoGrad no_grad;
    y = maximum(x, bound);
  }
  record("clamp_straight_through", y, {x}, [](const Tensor& dy) { return Grads{dy}; });
  return y;
}

// ln(1 + e^x); e^x overflows above 709, far from any amplitude or rate.
Tensor softplus(const Tensor& x) { return log1p(exp(x)); }

}  // namespace

HeadParameter::HeadParameter(const Arguments& a, const Config& c, std::string_view argument,
                             double low, double high, double bound)
    : name_(concat(a.path(), '.', argument)), bound_(bound) {
  const std::string word = a.word("constraint");
  constraint_ = word == "softplus"           ? Constraint::softplus
                : word == "straight_through" ? Constraint::straight_through
                                             : Constraint::project;
  std::vector<double> values = initial_values(a, c, argument, name_, low, high);
  for (double& value : values) {
    if (constraint_ == Constraint::project) value = std::max(value, bound);
    // The inverse of softplus; at the bound itself x would be -infinity.
    if (constraint_ == Constraint::softplus)
      value = std::log(std::expm1(std::max(value - bound, 1e-4)));
  }
  if (constraint_ == Constraint::softplus) name_ += "_raw";
  stored_ = Tensor::from(values, {c.n_head}, c.dtype, c.device);
  stored_.set_requires_grad();
}

Tensor HeadParameter::value() const {
  const Tensor x = reshape(cast(stored_, DType::f64), {stored_.dim(0), 1});
  switch (constraint_) {
    case Constraint::straight_through:
      return clamp_straight_through(x, bound_);
    case Constraint::softplus:
      return softplus(x) + bound_;
    case Constraint::project:
      break;
  }
  return x;
}

void HeadParameter::project() {
  if (constraint_ != Constraint::project) return;
  std::vector<double> values = stored_.to_vector();
  for (double& value : values) value = std::max(value, bound_);
  const Tensor clamped = Tensor::from(values, stored_.shape(), stored_.dtype());
  dispatch(stored_.device(), [&](auto device) { copy_bytes(device, clamped, stored_); });
}

ArgumentSpec constraint_argument() {
  return word_argument("constraint", {"project", "straight_through", "softplus"},
                       "how parameters are kept >= 0.01");
}

}  // namespace farfield::posenc
