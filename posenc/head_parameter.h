#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "posenc/arguments.h"
#include "posenc/encoding.h"

namespace farfield::posenc {

/// What the values of a parameter are kept between.
struct Bounds {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
};
/// Those of the published KERPLE code.
inline constexpr Bounds kAmplitude{.least = 0.01};
inline constexpr Bounds kRate{.least = 0.01};
inline constexpr Bounds kPower{.least = 0.01, .most = 2};

/// Initial values, one per head: uniform in [low, high).
struct Uniform {
  double low = 0, high = 1;
};

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
  /// The initial values are those of the argument, else drawn: a pure function of the seed and of
  /// the full name. Reads the arguments "learn" and "constraint" too.
  HeadParameter(const Arguments& a, const Config& c, std::string_view argument, Uniform start,
                Bounds bounds);
  /// The initial values are those of the argument, else `start`.
  HeadParameter(const Arguments& a, const Config& c, std::string_view argument,
                const std::vector<double>& start, Bounds bounds = {});

  /// [H, 1] in float64, differentiable in the stored values.
  Tensor value() const;
  bool is_learned() const { return stored_.requires_grad(); }
  Parameter parameter() const { return {stored_name(), stored_, /*decay=*/false}; }
  void project();

  /// "kerple_log.r1", whatever is stored.
  const std::string& name() const { return name_; }
  /// What value() has for each head.
  std::vector<double> values() const;
  /// Stores what makes value() these numbers, one for each head. ConfigError, with the parameter,
  /// the head, the value and its bounds, for one that is not finite, out of the bounds or, with
  /// constraint=softplus, nearer to one than a stored number can say.
  void set_values(const std::vector<double>& values);

 private:
  enum class Constraint { project, straight_through, softplus };

  void store(const Arguments& a, const Config& c, std::vector<double> values);
  std::string stored_name() const;

  std::string name_;
  Constraint constraint_ = Constraint::project;
  Bounds bounds_;
  Tensor stored_;  // [H]; values that are not learned are exact, in float64
};

/// An encoding whose parameters are numbers per head.
class HeadEncoding : public Encoding {
 public:
  std::vector<Parameter> parameters() const final;
  void project() final;
  std::vector<HeadParameter*> head_parameters() final;

 protected:
  explicit HeadEncoding(std::vector<HeadParameter> parameters) : all_(std::move(parameters)) {}
  /// Of the parameter at that place: HeadParameter::value().
  Tensor value(size_t index) const { return all_.at(index).value(); }

 private:
  std::vector<HeadParameter> all_;
};

/// The argument that chooses the constraint.
ArgumentSpec constraint_argument();
/// Whether parameters are trained.
ArgumentSpec learn_argument();
bool is_learned(const Arguments& a);

}  // namespace farfield::posenc
