#pragma once

#include <cassert>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "engine/host_device.h"

namespace farfield {

/// One output of philox(): four independent, uniform 32-bit words.
struct PhiloxBlock {
  uint32_t word[4];
  FARFIELD_HD uint32_t operator[](int i) const { return word[i]; }
  FARFIELD_HD uint64_t low() const { return word[0] | uint64_t{word[1]} << 32; }
  FARFIELD_HD uint64_t high() const { return word[2] | uint64_t{word[3]} << 32; }
};

/// Philox4x32-10: a keyed bijection of 128-bit counters. Key: seed, low word first. Counter: index
/// in words 0 and 1, stream in words 2 and 3.
/// Source    Salmon, Moraes, Dror and Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3"
FARFIELD_HD inline PhiloxBlock philox(uint64_t seed, uint64_t stream, uint64_t index) {
  uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  PhiloxBlock x{{static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
                 static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)}};
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53u} * x.word[0];
    const uint64_t product1 = uint64_t{0xCD9E8D57u} * x.word[2];
    x = {{static_cast<uint32_t>(product1 >> 32) ^ x.word[1] ^ key0, static_cast<uint32_t>(product1),
          static_cast<uint32_t>(product0 >> 32) ^ x.word[3] ^ key1,
          static_cast<uint32_t>(product0)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return x;
}

/// A stream of random numbers without state: number i is a pure function of (seed, stream, i), so
/// it does not depend on device, thread count or the order of calls.
struct Random {
  uint64_t seed = 0;
  uint64_t stream = 0;

  /// Uniform in [0, 1), a multiple of 2^-53.
  FARFIELD_HD double uniform(uint64_t i) const { return unit(philox(seed, stream, i).low()); }

  /// Mean 0, standard deviation 1; at most 8.6 in absolute value.
  /// Source    Box and Muller 1958, "A note on the generation of random normal deviates"
  FARFIELD_HD double normal(uint64_t i) const {
    const PhiloxBlock x = philox(seed, stream, i);
    constexpr double kTwoPi = 6.283185307179586476925;
    // 1 - u lies in (0, 1]: the logarithm is finite.
    return std::sqrt(-2 * std::log(1 - unit(x.low()))) * std::cos(kTwoPi * unit(x.high()));
  }

  /// Uniform over the integers [0, n), n > 0, without bias.
  /// Source    Lemire 2019, "Fast random integer generation in an interval", arXiv:1805.10941
  FARFIELD_HD uint64_t below(uint64_t i, uint64_t n) const {
    assert(n > 0);
    const uint64_t rejected = (0 - n) % n;  // 2^64 mod n low products would be one too many
    for (uint64_t attempt = 0;; ++attempt) {
      const PhiloxBlock x = philox(seed, stream ^ attempt * 0x9E3779B97F4A7C15u, i);
      for (const uint64_t bits : {x.low(), x.high()}) {
        const Wide product = static_cast<Wide>(bits) * n;
        if (static_cast<uint64_t>(product) >= rejected) return static_cast<uint64_t>(product >> 64);
      }
    }
  }

 private:
  __extension__ typedef unsigned __int128 Wide;  // nvcc reads no `using` here
  FARFIELD_HD static double unit(uint64_t bits) {
    return static_cast<double>(bits >> 11) * 0x1p-53;
  }
};

/// The stream that belongs to a name ("init", "data", ...): different names, independent numbers.
uint64_t stream_of(std::string_view name);

}  // namespace farfield
