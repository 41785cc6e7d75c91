#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/cpu/lanes.h"

namespace farfield::lanes {
BOOST_AUTO_TEST_SUITE(test_lanes)  // ctest: arm64
namespace {

BOOST_AUTO_TEST_CASE(stored_bfloat16_is_rounded_as_one_by_one) {
  using Limits = std::numeric_limits<float>;
  std::vector<float> values = {0,
                               -0.F,
                               1,
                               -3.14159274F,
                               1.00390625F,  // halfway, to the even below
                               1.01171875F,  // halfway, to the even above
                               Limits::max(),
                               -Limits::max(),
                               Limits::min(),
                               Limits::denorm_min(),
                               std::bit_cast<float>(0x00008000U),
                               Limits::infinity(),
                               -Limits::infinity(),
                               Limits::quiet_NaN(),
                               std::bit_cast<float>(0xffc00000U),
                               std::bit_cast<float>(0x7f800001U),   // a NaN by its lower half alone
                               std::bit_cast<float>(0xffffffffU)};  // which rounding would wrap
  for (uint32_t i = 0, bits = 1; i < 1000; ++i, bits = bits * 1664525 + 1013904223)
    values.push_back(std::bit_cast<float>(bits));
  while (values.size() % 16 != 0) values.push_back(1);

  std::vector<BFloat16> stored(values.size());
  constexpr size_t kStep = kLanes<float>;
  for (size_t i = 0; i < values.size(); i += kStep)
    store_rounded(stored.data() + i, load(values.data() + i));
  for (size_t i = 0; i < values.size(); ++i)
    BOOST_TEST(stored[i].bits == BFloat16(values[i]).bits, values[i]);
}

template <class A>
void check_folds() {
  constexpr int64_t n = kLanes<A>;
  for (int64_t at = 0; at < n; ++at) {
    Vec<A> x{};
    for (int64_t i = 0; i < n; ++i) x[i] = static_cast<A>(-1 - i);
    x[at] = 5;
    BOOST_TEST(max_of<A>(x) == 5);
    A sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += x[i];
    BOOST_TEST(sum_of<A>(x) == sum);  // of small whole numbers: exact in any order
  }
  const A infinity = std::numeric_limits<A>::infinity();
  BOOST_TEST(max_of<A>(splat(-infinity)) == -infinity);
}

BOOST_AUTO_TEST_CASE(sum_and_maximum_take_every_lane) {
  check_folds<float>();
  check_folds<double>();
}

// Sums whose rounding depends on the order.
template <class A>
void check_sums_of() {
  constexpr int64_t n = kLanes<A>;
  Vec<A> rows[n], want{};
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t l = 0; l < n; ++l)
      rows[i][l] = static_cast<A>(std::exp(static_cast<double>((i * 37 + l * 101) % 53 - 26)));
    want[i] = sum_of<A>(rows[i]);
  }
  const Vec<A> got = sums_of<A>(rows);
  for (int64_t i = 0; i < n; ++i) {
    const A a = got[i], b = want[i];
    BOOST_TEST(a == b, i);
  }
}

BOOST_AUTO_TEST_CASE(sums_of_rows_have_the_bits_of_each_alone) {
  check_sums_of<float>();
  check_sums_of<double>();
}

// Square blocks of n x n in all lanes.
template <class A, int n>
void check_transposed() {
  constexpr int kWidth = static_cast<int>(kLanes<A>);
  Vec<A> rows[n];
  for (int i = 0; i < n; ++i)
    for (int l = 0; l < kWidth; ++l) rows[i][l] = static_cast<A>(100 * i + l);
  transpose<A, n>(rows);
  for (int i = 0; i < n; ++i)
    for (int l = 0; l < kWidth; ++l) {
      const A got = rows[i][l];
      BOOST_TEST(got == static_cast<A>(100 * (l % n) + l / n * n + i), n << ' ' << l);
    }
}

BOOST_AUTO_TEST_CASE(transposed_groups_of_lanes) {
  check_transposed<float, static_cast<int>(kLanes<float>)>();
  check_transposed<float, static_cast<int>(kLanes<float> / 2)>();
  check_transposed<double, static_cast<int>(kLanes<double>)>();
  check_transposed<double, static_cast<int>(kLanes<double> / 2)>();
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::lanes
