#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "posenc/arguments.h"
#include "posenc/encoding.h"

namespace farfield::posenc {

/// One number per head: trained, or fixed with learn=false. Values with bounds are kept there in
/// one of three ways, chosen by the argument "constraint":
///
/// project           the stored value is clamped after each optimizer step
/// straight_through  the forward pass clamps, the gradient passes as if it did not: a stored value
///                   may drift out of the bounds and stay there (what the published code does)
/// softplus          a smooth, growing map of the stored x, under the name "<name>_raw":
///                   least + ln(1 + e^x), most - ln(1 + e^-x), or with both bounds
///                   least + (most - least) / (1 + e^-x). Starts inside the bounds, where x is
///                   finite: by 1e-4, or less near a small bound or between narrow ones
class HeadParameter {
 public:
  /// Initial values: the argument, else `start`, a pure function of the seed and of the full name.
  /// Reads the arguments "learn" and, with bounds, "constraint" too.
  HeadParameter(const Arguments& a, const Config& c, std::string_view argument, const Start& start,
                const Bounds& bounds);

  /// [H, 1] in float64, differentiable in the stored values.
  Tensor value() const;
  /// Whether the expression says so; a model may freeze the parameter all the same.
  bool is_learned() const { return is_learned_; }
  const Bounds& bounds() const { return bounds_; }
  /// What is stored, with the bounds that an optimizer's step must not leave it out of.
  Parameter parameter() const;

  /// "kerple_log.r1", whatever is stored.
  const std::string& name() const { return name_; }
  /// What value() has for each head.
  std::vector<double> values() const;
  /// Stores what makes value() these numbers, one for each head. ConfigError, with the parameter,
  /// the head, the value and its bounds, for a value that is not finite, out of the bounds or, with
  /// constraint=softplus, nearer to a bound than a stored number can express.
  void set_values(const std::vector<double>& values);

 private:
  enum class Constraint { project, straight_through, softplus };

  std::string name_;
  Constraint constraint_ = Constraint::project;
  Bounds bounds_;
  bool is_learned_;
  Tensor stored_;  // [H]; values that are not learned are exact, in float64
};

/// An encoding with one number per head for each parameter: first the parameters that its arguments
/// initialise, in the order of its row, then the parameters that the expression declares.
class HeadEncoding : public Encoding {
 public:
  HeadEncoding(const Arguments& a, const Config& c);
  std::vector<Parameter> parameters() const final;
  std::vector<HeadParameter*> head_parameters() final;

 protected:
  /// Of the parameter at that place: HeadParameter::value().
  Tensor value(size_t index) const { return all_.at(index).value(); }
  /// The same for one head, for a closed form. IoError bad_parameter unless it is finite, above 0
  /// and no more than its upper bound.
  double positive_value(size_t index, size_t head) const;

 private:
  std::vector<HeadParameter> all_;
};

/// Initial logarithms: the logarithms of values(n_head), described by `text`. e^x stays within
/// float32.
ArgumentSpec theta_argument(std::string text, std::vector<double> (*values)(int64_t n_head),
                            std::string meaning);
/// The argument that chooses the constraint.
ArgumentSpec constraint_argument();
/// Whether parameters are trained.
ArgumentSpec learn_argument();
bool is_learned(const Arguments& a);

}  // namespace farfield::posenc
