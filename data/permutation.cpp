#include "data/permutation.h"

#include <cassert>

#include "engine/base/error.h"
#include "engine/base/random.h"

namespace farfield::data {

Permutation::Permutation(int64_t n, uint64_t seed, uint64_t stream)
    : n_(static_cast<uint64_t>(n)), seed_(seed), stream_(stream) {
  require<ConfigError>(n > 0 && n <= int64_t{1} << 62, "permutation",
                       "expected a size from 1 to 2^62, got ", n);
  while (half_bits_ < 31 && uint64_t{1} << 2 * half_bits_ < n_) ++half_bits_;
}

int64_t Permutation::operator[](int64_t i) const {
  assert(i >= 0 && static_cast<uint64_t>(i) < n_);
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  auto x = static_cast<uint64_t>(i);
  do {
    uint64_t left = x >> half_bits_, right = x & mask;
    for (uint64_t round = 0; round < 8; ++round) {
      const uint64_t mixed = left ^ (philox(seed_, stream_, round << 32 | right)[0] & mask);
      left = right;
      right = mixed;
    }
    x = left << half_bits_ | right;
  } while (x >= n_);
  return static_cast<int64_t>(x);
}

}  // namespace farfield::data
