#pragma once

#include <string>
#include <vector>

#include "posenc/arguments.h"
#include "posenc/encoding.h"

namespace farfield::posenc {

/// One trained number per head with a lower bound, kept by one of three constraints.
///
/// project           the stored value is clamped after each optimizer step
/// straight_through  the forward pass clamps, the gradient passes as if it did not: a stored value
///                   may drift below the bound and stay there (what the published code does)
/// softplus          value = bound + ln(1 + e^x), x is stored, under the name "<name>_raw"
class HeadParameter {
 public:
  /// The initial values are those given as argument `argument`, else uniform in [low, high), a pure
  /// function of the seed and of the full name. The words of the argument "constraint" choose the
  /// constraint.
  HeadParameter(const Arguments& a, const Config& c, std::string_view argument, double low,
                double high, double bound);

  /// [H, 1] in float64, differentiable in the stored values.
  Tensor value() const;
  Parameter parameter() const { return {name_, stored_, /*decay=*/false}; }
  void project();

 private:
  enum class Constraint { project, straight_through, softplus };

  std::string name_;
  Constraint constraint_;
  double bound_;
  Tensor stored_;  // [H]
};

/// The argument that chooses the constraint.
ArgumentSpec constraint_argument();

}  // namespace farfield::posenc
