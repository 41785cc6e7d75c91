#pragma once

#include <algorithm>

#include "posenc/arguments.h"

namespace farfield::posenc {

/// How much longer than the training length an input is: the argument `scale`, or for the word
/// `auto` the length of the call over `original_length`, at least 1.
class LengthScale {
 public:
  explicit LengthScale(const Arguments& a)
      : fixed_(a.word("scale") == "auto" ? 0 : a.number("scale")),
        original_length_(a.number("original_length")) {}
  double operator()(const Positions& p) const {
    return fixed_ > 0 ? fixed_ : std::max(1.0, static_cast<double>(p.n_key) / original_length_);
  }

 private:
  double fixed_;            // 0: auto
  double original_length_;  // tokens
};

}  // namespace farfield::posenc
