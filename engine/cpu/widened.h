#pragma once
// Vectors of float from bfloat16 in memory, and back.

#include <cstdint>
#include <cstring>

#include "engine/dtype.h"
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace farfield {

/// As many elements as V has, a vector type of float.
template <class V>
V widened(const BFloat16* from) {
  static_assert(sizeof(V) == 8 || sizeof(V) == 16 || sizeof(V) == 32 || sizeof(V) == 64);
  // Compilers widen 16-bit words by several shuffles where one instruction does it.
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) {
    __m256i x;
    std::memcpy(&x, from, sizeof x);
    // With a mask of all: GCC 12 warns of the form without one.
    typedef uint32_t Words __attribute__((vector_size(64)));
    return reinterpret_cast<V>(reinterpret_cast<Words>(_mm512_maskz_cvtepu16_epi32(0xffff, x))
                               << 16);
  }
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(V) == 32) {
    __m128i x;
    std::memcpy(&x, from, sizeof x);
    return reinterpret_cast<V>(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16));
  }
  if constexpr (sizeof(V) == 16) {
    const __m128i x = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    return reinterpret_cast<V>(_mm_slli_epi32(_mm_cvtepu16_epi32(x), 16));
  }
#endif
  uint16_t halves[sizeof(V) / sizeof(float)];
  uint32_t words[sizeof(V) / sizeof(float)];
  std::memcpy(halves, from, sizeof halves);
  for (size_t i = 0; i < sizeof(V) / sizeof(float); ++i) words[i] = uint32_t{halves[i]} << 16;
  V x;
  std::memcpy(&x, words, sizeof x);
  return x;
}

/// to[0], to[1], ... = BFloat16(x[0]), ...
template <class V>
void narrow(V x, BFloat16* to) {
#if defined(__AVX2__)
  typedef uint32_t Words __attribute__((vector_size(sizeof(V))));
  const Words bits = reinterpret_cast<Words>(x), cut = bits >> 16;
  const Words rounded = (bits + (cut & 1U) + 0x7fffU) >> 16;
  const Words words = x == x ? rounded : cut | 0x40U;
  void* const memory = to;
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) {
    const __m256i halves = _mm512_maskz_cvtepi32_epi16(0xffff, reinterpret_cast<__m512i>(words));
    std::memcpy(memory, &halves, sizeof halves);
    return;
  }
#endif
  if constexpr (sizeof(V) == 32) {
    const auto wide = reinterpret_cast<__m256i>(words);
    const __m128i halves =
        _mm_packus_epi32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
    std::memcpy(memory, &halves, sizeof halves);
    return;
  }
#endif
  for (size_t i = 0; i < sizeof(V) / sizeof(float); ++i) to[i] = BFloat16(x[i]);
}

}  // namespace farfield
