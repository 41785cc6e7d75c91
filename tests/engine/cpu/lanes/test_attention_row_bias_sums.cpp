#include <boost/test/unit_test.hpp>
#include <limits>
#include <vector>

#include "engine/cpu/attention_row_bias_sums.h"

namespace farfield::attention_cpu {
BOOST_AUTO_TEST_SUITE(test_attention_row_bias_sums)  // ctest: arm64
namespace {

// A run of keys ends anywhere in a vector, and vectors are read whole: what lies behind the arrays
// is memory that nobody has written.
template <class A>
void check_what_lies_behind() {
  constexpr int64_t kSegment = 3, kLane = kLanes<A>;
  const A nan = std::numeric_limits<A>::quiet_NaN();
  for (int64_t n = 1; n <= 3 * kLane; ++n) {
    const auto size = static_cast<size_t>(n + 2 * kLane);
    std::vector<A> ds(size, nan), features(size, nan), sums(2 * kSegment * kLane),
        dfeature(size, nan);
    std::vector<double> segments(2 * kSegment), row_factor(1);
    for (int64_t j = 0; j < n; ++j) {
      ds[static_cast<size_t>(j)] = 1;
      features[static_cast<size_t>(j)] = 2;
    }
    // Key 0 is at distance n - 1, the last at 0; segments 0 and 1 have one key each, if there are
    // so many.
    const std::vector<A> slope = {3, 5, 7}, offset(kSegment), factor = {11};
    const std::vector<int32_t> bounds = {1, 2};
    RowBiasPart<A> part;
    part.bias = {features.data(), factor.data(), slope.data(),
                 offset.data(),   bounds.data(), kSegment};
    part.sums = sums.data();
    part.segments = segments.data();
    part.row_factor = row_factor.data();
    part.start_tile();
    part.add_row(0, n - 1, {0, n}, ds.data(), features.data(), dfeature.data());
    part.finish_tile({}, dfeature.data());
    double want_row = 0;
    for (int64_t s = 0; s < kSegment; ++s) {
      const int64_t left = n > s ? n - s : 0, keys = s < 2 ? (left < 1 ? left : 1) : left;
      BOOST_TEST(segments[static_cast<size_t>(2 * s)] == static_cast<double>(keys), n << ' ' << s);
      BOOST_TEST(segments[static_cast<size_t>(2 * s + 1)] == static_cast<double>(22 * keys));
      want_row +=
          static_cast<double>(2 * keys) * static_cast<double>(slope[static_cast<size_t>(s)]);
    }
    BOOST_TEST(row_factor[0] == want_row, n);
    for (int64_t j = 0; j < n; ++j)
      BOOST_TEST(std::isfinite(dfeature[static_cast<size_t>(j)]), n << ' ' << j);
  }
}

BOOST_AUTO_TEST_CASE(what_lies_behind_the_keys_counts_for_nothing) {
  check_what_lies_behind<float>();
  check_what_lies_behind<double>();
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::attention_cpu
