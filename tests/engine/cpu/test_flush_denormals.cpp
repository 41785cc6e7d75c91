#include <boost/test/unit_test.hpp>
#include <limits>

#include "engine/cpu/flush_denormals.h"
#include "tests/support/attention_problem.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_flush_denormals)  // ctest: arm64
namespace {

// Half of the smallest number with full precision, computed now.
float half_of_smallest() {
  volatile float smallest = std::numeric_limits<float>::min();
  return smallest * 0.5F;
}

BOOST_AUTO_TEST_CASE(small_numbers_are_zero_while_it_is_there) {
  const float before = half_of_smallest();
  {
    const FlushDenormals flush;
#if defined(__SSE2__) || defined(__aarch64__)
    BOOST_TEST(half_of_smallest() == 0);
#endif
    const FlushDenormals twice;
  }
  BOOST_TEST(half_of_smallest() == before);
  BOOST_TEST(before > 0);
}

BOOST_AUTO_TEST_CASE(attention_leaves_the_mode_of_the_caller) {
  run(test::make_problem({1, 1, 50, 50, 8}, DType::f32));
  BOOST_TEST(half_of_smallest() > 0);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
