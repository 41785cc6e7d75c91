#pragma once

#include <cstdint>

namespace farfield::data {

/// A pseudo-random order of 0 ... n - 1 that is computed, not stored: O(1) memory, and any place of
/// it in O(1) time.
///
/// A Feistel network of 8 rounds over the smallest 4^k >= n, its round function the generator of
/// base/random.h; a result of n or more goes through again until it falls below n.
/// Source    Luby and Rackoff 1988, "How to construct pseudorandom permutations"; Black and Rogaway
///           2002, "Ciphers with arbitrary finite domains", section 3 (cycle walking)
class Permutation {
 public:
  /// 0 < n <= 2^62; (seed, stream) choose the order.
  Permutation(int64_t n, uint64_t seed, uint64_t stream);

  int64_t size() const { return static_cast<int64_t>(n_); }
  /// The number at place i, 0 <= i < n.
  int64_t operator[](int64_t i) const;

 private:
  uint64_t n_, seed_, stream_;
  int half_bits_ = 1;
};

}  // namespace farfield::data
