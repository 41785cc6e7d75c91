#include <boost/test/unit_test.hpp>

#include "apps/run/weights.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_weights)

using namespace farfield;
using namespace farfield::run;

namespace {
std::vector<Parameter> parameters() {
  return {{"a", Tensor::from({1, 2}, {2}), true}, {"b", Tensor::from({3}, {1}), true}};
}
}  // namespace

BOOST_AUTO_TEST_CASE(tensors_are_copied_into_the_parameters) {
  std::vector<Parameter> p = parameters();
  const Tensor shared = p[0].value;
  load_weights(p, {{"a", Tensor::from({5, 6}, {2})}, {"b", Tensor::from({7}, {1})}});
  BOOST_TEST(shared.to_vector() == (std::vector<double>{5, 6}), boost::test_tools::per_element());
  BOOST_TEST(p[1].value.item() == 7);
}

BOOST_AUTO_TEST_CASE(tensors_that_do_not_fit_are_named_and_nothing_changes) {
  std::vector<Parameter> p = parameters();
  const Tensor a = Tensor::from({5, 6}, {2}), b = Tensor::from({7}, {1});
  BOOST_CHECK_EXCEPTION(load_weights(p, {{"a", a}}), IoError, says("expected a tensor 'b'"));
  BOOST_CHECK_EXCEPTION(load_weights(p, {{"a", a}, {"b", b}, {"c", b}}), IoError, says("got 'c'"));
  BOOST_CHECK_EXCEPTION(load_weights(p, {{"a", a}, {"b", a}}), IoError,
                        says("[checkpoint] 'b': expected float32 [1], got float32 [2]"));
  BOOST_CHECK_THROW(load_weights(p, {{"a", a}, {"b", Tensor::from({7}, {1}, DType::f64)}}),
                    IoError);
  BOOST_TEST(p[0].value.to_vector()[0] == 1);
}

BOOST_AUTO_TEST_SUITE_END()
