#include <boost/test/unit_test.hpp>
#include <vector>

#include "engine/cpu/pack.h"

namespace farfield::lanes {
BOOST_AUTO_TEST_SUITE(test_pack)  // ctest: arm64
namespace {

constexpr int64_t kRows = 2 * kBlockCols<float> + 5;

// A matrix of distinct numbers that bfloat16 has, [outer, inner] or, if the inner dimension is not
// contiguous, [inner, outer], with room behind each stored row.
template <class T>
struct Stored {
  Stored(int64_t n_inner, bool inner_is_contiguous)
      : ld((inner_is_contiguous ? n_inner : kRows) + 3),
        elements(static_cast<size_t>(ld * (inner_is_contiguous ? kRows : n_inner))),
        operand{elements.data(), ld, inner_is_contiguous, n_inner} {
    for (int64_t r = 0; r < kRows; ++r)
      for (int64_t k = 0; k < n_inner; ++k)
        elements[static_cast<size_t>(operand.at(r, k) - elements.data())] = number(r, k);
  }
  static T number(int64_t row, int64_t k) {
    if constexpr (std::is_same_v<T, BFloat16>) {
      BFloat16 x;
      x.bits = static_cast<uint16_t>(0x3f80 + row * 128 + k);
      return x;
    } else {
      return static_cast<T>(row * 128 + k);
    }
  }

  int64_t ld;
  std::vector<T> elements;
  Operand<T> operand;
};

// Unit u of a row: its elements, 0 behind the last.
template <class Terms, class T>
typename Terms::Unit unit_of(int64_t row, int64_t u, int64_t n_inner) {
  using Unit = typename Terms::Unit;
  if constexpr (Terms::kElements == 1) {
    return static_cast<Unit>(Stored<T>::number(row, u));
  } else {
    const auto bits = [&](int64_t k) {
      return k < n_inner ? uint32_t{Stored<T>::number(row, k).bits} : 0;
    };
    return bits(2 * u) | bits(2 * u + 1) << 16;
  }
}

template <class Terms, class T, int64_t W>
void check_blocks(int64_t n_inner, bool inner_is_contiguous) {
  const Stored<T> from(n_inner, inner_is_contiguous);
  const int64_t n_unit = units_of<Terms>(n_inner), n_block = (kRows + W - 1) / W;
  std::vector<typename Terms::Unit> to(static_cast<size_t>(n_block * W * n_unit), 77);
  PackedBlocks<Terms, W, T>::pack(from.operand, 0, kRows, 0, n_unit, to.data());
  int64_t n_wrong = 0;
  for (int64_t r = 0; r < n_block * W; ++r)
    for (int64_t u = 0; u < n_unit; ++u) {
      const auto want = r < kRows ? unit_of<Terms, T>(r, u, n_inner) : 0;
      n_wrong += to[static_cast<size_t>(r / W * n_unit * W + u * W + r % W)] != want ? 1 : 0;
    }
  BOOST_TEST(n_wrong == 0, n_inner << ' ' << inner_is_contiguous << ' ' << W);
}

template <class Terms, class T>
void check_rows(int64_t n_inner) {
  const Stored<T> from(n_inner, true);
  const int64_t n_unit = units_of<Terms>(n_inner), stride = n_unit + 2;
  std::vector<typename Terms::Unit> to(static_cast<size_t>(kRows * stride), 77);
  pack_rows<Terms>(from.operand, 0, kRows, 0, n_unit, to.data(), stride);
  int64_t n_wrong = 0;
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t u = 0; u < stride; ++u) {
      const auto want = u < n_unit ? unit_of<Terms, T>(r, u, n_inner) : 77;
      n_wrong += to[static_cast<size_t>(r * stride + u)] != want ? 1 : 0;
    }
  BOOST_TEST(n_wrong == 0, n_inner);
}

// Depths around squares of whole and half vectors, and odd ones.
template <class Terms, class T>
void check() {
  for (int64_t n_inner = 1; n_inner <= 4 * kLanes<float> + 3; ++n_inner) {
    check_rows<Terms, T>(n_inner);
    for (const bool inner_is_contiguous : {true, false}) {
      check_blocks<Terms, T, kBlockCols<typename Terms::Sum>>(n_inner, inner_is_contiguous);
      check_blocks<Terms, T, kBlockRows>(n_inner, inner_is_contiguous);
    }
  }
}

BOOST_AUTO_TEST_CASE(packed_elements) {
  check<Elements<float>, float>();
  check<Elements<double>, double>();
  check<Elements<float>, BFloat16>();
}

#if defined(__AVX512BF16__)
BOOST_AUTO_TEST_CASE(packed_pairs) { check<Bf16Pairs, BFloat16>(); }
#endif

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::lanes
