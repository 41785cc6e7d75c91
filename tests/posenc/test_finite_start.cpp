#include <boost/test/unit_test.hpp>

#include "posenc/finite_start.h"
#include "tests/support/encodings.h"
#include "tests/support/messages.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_finite_start)  // ctest: arm64
namespace {

void start(std::string_view expression) {
  require_finite_start(Composition(expression, model_of(2, DType::f32)));
}

BOOST_AUTO_TEST_CASE(every_encoding_may_start) {
  for (const Row& row : registry()) BOOST_CHECK_NO_THROW(start(example_of(row)));
}

BOOST_AUTO_TEST_CASE(a_gradient_that_is_not_finite_is_refused_with_value_distance_and_bound) {
  // The table is 0 at distance 0; its slope there is a NaN.
  BOOST_CHECK_EXCEPTION(
      start("kernel(bias=-exp(-r/d), r=[0.25,0.5])"), ConfigError,
      says_exactly("[posenc] expected a gradient of at most 3.40282e+38, which float32 can hold, "
                   "by kernel.r of head 1, which starts at 0.25; got nan from a pair at distance "
                   "0; let it start elsewhere, change the formula, or add learn=false"));
  // 3 / r^4 is more than float32 holds for one head, from the first distance that is not 0.
  BOOST_CHECK_EXCEPTION(
      start("rope + kernel(weight=1+1e-30*d*r^-3, r>=1e-20=[1,1e-20])"), ConfigError,
      says("by kernel.r of head 2, which starts at 1e-20; got -", " from a pair at distance 1;"));
  // From some distance on: 1e37 d^2, over the three layers of the model.
  BOOST_CHECK_NO_THROW(start("kernel(bias=-1e34*d*(exp(r*d)-1), r=1e-3)@1"));
  BOOST_CHECK_EXCEPTION(start("kernel(bias=-1e37*d*(exp(r*d)-1), r=1e-3)@1"), ConfigError,
                        says("starts at 0.001; got -inf from a pair at distance 7;"));
}

BOOST_AUTO_TEST_CASE(what_is_not_learned_needs_no_gradient) {
  BOOST_CHECK_NO_THROW(start("kernel(bias=-exp(-r/d), r=[0.25,0.5], learn=false)"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
