#pragma once

#include "posenc/arguments.h"
#include "posenc/encoding.h"

namespace farfield::posenc {

/// The argument `at`: whether an encoding acts, in training too or in a test alone.
class ActiveAt {
 public:
  explicit ActiveAt(const Arguments& a) : eval_only_(a.word("at") == "eval") {}
  bool operator()(const Positions& p) const { return !eval_only_ || p.phase == Phase::eval; }

 private:
  bool eval_only_;
};

}  // namespace farfield::posenc
