#include "posenc/head_parameter.h"

#include <algorithm>
#include <cmath>

#include "engine/autograd.h"
#include "engine/ops.h"

namespace farfield::posenc {
namespace {

std::string range_text(const Bounds& bounds) {
  if (std::isinf(bounds.least) && std::isinf(bounds.most)) return "finite";
  if (std::isinf(bounds.most)) return ">= " + to_text(bounds.least);
  if (std::isinf(bounds.least)) return "<= " + to_text(bounds.most);
  return concat(">= ", to_text(bounds.least), " and <= ", to_text(bounds.most));
}

// The value nearest to x within the bounds.
double clamped(double x, const Bounds& bounds) {
  return std::min(std::max(x, bounds.least), bounds.most);
}

// The value nearest to x within the bounds, with the gradient of x.
Tensor clamp_straight_through(const Tensor& x, const Bounds& bounds) {
  Tensor y;
  {
    const NoGrad no_grad;
    y = minimum(maximum(x, bounds.least), bounds.most);
  }
  record("clamp_straight_through", y, {x}, [](const Tensor& dy) { return Grads{dy}; });
  return y;
}

// ln(1 + e^x), without overflow.
Tensor softplus(const Tensor& x) { return maximum(x, 0.0) + log1p(exp(minimum(x, -x))); }
// Its inverse, for y > 0.
double inverse_softplus(double y) { return y + std::log(-std::expm1(-y)); }

// From all numbers to those within the bounds, growing. One bound at least is finite.
Tensor squeezed(const Tensor& x, const Bounds& bounds) {
  if (std::isinf(bounds.most)) return softplus(x) + bounds.least;
  if (std::isinf(bounds.least)) return bounds.most - softplus(-x);
  return sigmoid(x) * (bounds.most - bounds.least) + bounds.least;
}
// The inverse.
double stretched(double value, const Bounds& bounds) {
  if (std::isinf(bounds.most)) return inverse_softplus(value - bounds.least);
  if (std::isinf(bounds.least)) return -inverse_softplus(bounds.most - value);
  return std::log((value - bounds.least) / (bounds.most - value));
}
// Bounds a little narrower, where the inverse is finite and its slope does not vanish.
Bounds inside(const Bounds& bounds) {
  double margin = bounds.least > 0 ? std::min(1e-4, 0.01 * bounds.least) : 1e-4;
  margin = std::min(margin, 0.01 * (bounds.most - bounds.least));
  return {.least = bounds.least + margin, .most = bounds.most - margin};
}

Start start_of(const Declaration& declared) {
  if (declared.is_drawn()) return uniform(declared.low, declared.high);
  return {"", [&declared](int64_t n_head, const Random&) {
            std::vector<double> values = declared.values;
            if (!declared.is_list) values.resize(static_cast<size_t>(n_head), values[0]);
            return values;
          }};
}

}  // namespace

HeadParameter::HeadParameter(const Arguments& a, const Config& c, std::string_view argument,
                             const Start& start, const Bounds& bounds)
    : name_(concat(a.path(), '.', argument)), bounds_(bounds) {
  const Random random{c.seed, stream_of("posenc." + name_)};
  std::vector<double> values =
      a.has(argument) ? a.per_head(argument) : start.values(c.n_head, random);
  if (std::isfinite(bounds_.least) || std::isfinite(bounds_.most)) {
    const std::string word = a.word("constraint");
    constraint_ = word == "softplus"           ? Constraint::softplus
                  : word == "straight_through" ? Constraint::straight_through
                                               : Constraint::project;
  }
  const bool learned = posenc::is_learned(a);
  const bool smooth = constraint_ == Constraint::softplus;
  // straight_through may store a value out of the bounds; only its use is clamped.
  if (!learned || constraint_ != Constraint::straight_through)
    for (double& x : values) x = clamped(x, smooth ? inside(bounds_) : bounds_);
  if (!learned) {
    constraint_ = Constraint::project;
  } else if (smooth) {
    for (double& x : values) x = stretched(x, bounds_);
  }
  stored_ = Tensor::from(values, {c.n_head}, learned ? c.dtype : DType::f64, c.device);
  stored_.set_requires_grad(learned);
  is_learned_ = learned;
}

Parameter HeadParameter::parameter() const {
  const bool smooth = constraint_ == Constraint::softplus && is_learned();
  Parameter parameter{smooth ? name_ + "_raw" : name_, stored_, /*decay=*/false};
  const auto as_stored = [this](double x) {
    return stored_.dtype() == DType::f32 ? double{static_cast<float>(x)} : x;
  };
  if (constraint_ == Constraint::project)
    parameter.bounds = {as_stored(bounds_.least), as_stored(bounds_.most)};
  return parameter;
}

std::vector<double> HeadParameter::values() const {
  const NoGrad no_grad;
  return value().to_vector();
}

void HeadParameter::set_values(const std::vector<double>& values) {
  require<ConfigError>(static_cast<int64_t>(values.size()) == stored_.dim(0), "posenc",
                       "expected a value of ", name_, " for each of ", stored_.dim(0),
                       " heads, got ", values.size());
  std::vector<double> stored = values;
  for (size_t h = 0; h < values.size(); ++h) {
    if (constraint_ == Constraint::softplus) stored[h] = stretched(values[h], bounds_);
    const bool is_in = bounds_.least <= values[h] && values[h] <= bounds_.most;
    require<ConfigError>(is_in && std::isfinite(stored[h]), "posenc", "expected ", name_,
                         " of head ", h + 1, ' ', range_text(bounds_), ", got ",
                         to_text(values[h]));
  }
  stored_.assign(Tensor::from(stored, stored_.shape(), stored_.dtype(), stored_.device()));
}

Tensor HeadParameter::value() const {
  const Tensor x = reshape(cast(stored_, DType::f64), {stored_.dim(0), 1});
  switch (constraint_) {
    case Constraint::straight_through:
      return clamp_straight_through(x, bounds_);
    case Constraint::softplus:
      return squeezed(x, bounds_);
    case Constraint::project:
      break;
  }
  return x;
}

HeadEncoding::HeadEncoding(const Arguments& a, const Config& c) {
  for (const ArgumentSpec& spec : a.specs()) {
    if (!spec.start.values) continue;
    Bounds bounds = spec.kept;
    if (!spec.kept_above.empty()) bounds.least = a.number(spec.kept_above);
    all_.emplace_back(a, c, spec.name, spec.start, bounds);
  }
  for (const Declaration& declared : a.declarations())
    all_.emplace_back(a, c, declared.name, start_of(declared),
                      Bounds{declared.least, declared.most});
}

double HeadEncoding::positive_value(size_t index, size_t head) const {
  const HeadParameter& parameter = all_.at(index);
  const double value = parameter.values().at(head), most = parameter.bounds().most;
  require<IoError>(value > 0 && value <= most && std::isfinite(value), "posenc",
                   "bad_parameter: expected a finite ", parameter.name(), " above 0",
                   std::isfinite(most) ? concat(" and at most ", most) : "", ", got ", value);
  return value;
}

std::vector<Parameter> HeadEncoding::parameters() const {
  std::vector<Parameter> learned;
  for (const HeadParameter& parameter : all_)
    if (parameter.is_learned()) learned.push_back(parameter.parameter());
  return learned;
}

std::vector<HeadParameter*> HeadEncoding::head_parameters() {
  std::vector<HeadParameter*> learned;
  for (HeadParameter& parameter : all_)
    if (parameter.is_learned()) learned.push_back(&parameter);
  return learned;
}

ArgumentSpec theta_argument(std::string text, std::vector<double> (*values)(int64_t n_head),
                            std::string meaning) {
  Start start{std::move(text), [values](int64_t n_head, const Random&) {
                std::vector<double> theta = values(n_head);
                for (double& x : theta) x = std::log(x);
                return theta;
              }};
  return start_argument("theta", std::move(start), std::move(meaning)).at_least(-50).at_most(50);
}
ArgumentSpec constraint_argument() {
  return word_argument("constraint", {"project", "straight_through", "softplus"},
                       "how parameters stay in their bounds; softplus: by a smooth map, for powers "
                       "the sigmoid");
}
ArgumentSpec learn_argument() {
  return word_argument("learn", {"true", "false"},
                       "false: parameters stay at their initial values");
}
bool is_learned(const Arguments& a) { return a.word("learn") == "true"; }

}  // namespace farfield::posenc
