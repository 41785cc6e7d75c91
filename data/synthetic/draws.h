#pragma once

#include <cstdint>

#include "engine/base/random.h"

namespace farfield::data {

/// The numbers of a random stream, one after the other.
class Draws {
 public:
  Draws(uint64_t seed, uint64_t stream) : random_{seed, stream} {}

  /// In [0, 1).
  double uniform() { return random_.uniform(next_++); }
  /// In 0 ... n - 1.
  int64_t below(int64_t n) {
    return static_cast<int64_t>(random_.below(next_++, static_cast<uint64_t>(n)));
  }

 private:
  Random random_;
  uint64_t next_ = 0;
};

}  // namespace farfield::data
