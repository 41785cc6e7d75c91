#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "engine/base/random.h"

namespace farfield::test {

/// Dropout as engine/ops/dropout.h defines it: whether each of elements 0 .. n stays.
inline std::vector<bool> kept_by_dropout(int64_t n, double p, const Random& random) {
  std::vector<bool> kept;
  for (int64_t i = 0; i < n; ++i) {
    const PhiloxBlock block = philox(random.seed, random.stream, static_cast<uint64_t>(i / 8));
    const uint64_t eight_bytes = i % 8 < 4 ? block.low() : block.high();
    const auto bits = static_cast<uint16_t>(eight_bytes >> (16 * (i % 4)));
    kept.push_back(bits >= std::floor(p * 65536 + 0.5));
  }
  return kept;
}

}  // namespace farfield::test
