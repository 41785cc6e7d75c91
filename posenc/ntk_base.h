#pragma once

#include <cmath>

#include "posenc/rotary.h"

namespace farfield::posenc {

/// The base that divides the slowest of r/2 frequencies by alpha and leaves the fastest alone:
/// base alpha^(r / (r - 2)). ConfigError, as of `a`, unless r >= 4.
class NtkBase {
 public:
  NtkBase(const Arguments& a, const Rotary& rotary)
      : base_(rotary.base()), dims_(static_cast<double>(rotary.dims())) {
    a.require(rotary.dims() >= 4, "rotary_pct",
              "expected at least 4 rotated components, of which the first two keep their "
              "frequency, got ",
              rotary.dims());
  }
  double operator()(double alpha) const { return base_ * std::pow(alpha, dims_ / (dims_ - 2)); }

 private:
  double base_, dims_;
};

}  // namespace farfield::posenc
