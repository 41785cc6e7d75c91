#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "engine/autograd.h"
#include "engine/ops.h"
#include "posenc/composition.h"
#include "tests/support/encodings.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_piecewise)  // ctest: on_cuda
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

BOOST_AUTO_TEST_CASE(a_step_is_one_above_zero_whatever_the_size) {
  const auto step_at = [](double x) {
    return heaviside(Tensor::from({x}, {1}, DType::f64)).item();
  };
  for (const double x : {5e-324, 1e-310, 1e-301, 1e-300, 1e-150, 0.5, 1.0, 1e30, 1e308, kInfinity})
    BOOST_TEST(step_at(x) == 1, x);
  for (const double x : {0.0, -0.0, -5e-324, -1.0, -1e308, -kInfinity})
    BOOST_TEST(step_at(x) == 0, x);
  BOOST_TEST(std::isnan(step_at(std::nan(""))));
}

BOOST_AUTO_TEST_CASE(a_step_is_a_constant_and_finite_on_the_way) {
  const Tensor x = Tensor::from({-1e308, 1e30, 1e308}, {3}, DType::f64).set_requires_grad();
  const FindNonfinite find;
  backward(sum(heaviside(x)));
  BOOST_TEST(x.grad().to_vector() == std::vector<double>(3), boost::test_tools::per_element());
  BOOST_TEST(find.found() == "");
}

// The report of a step with a NaN names the first result that is not finite.
BOOST_AUTO_TEST_CASE(encodings_that_count_kinks_make_nothing_infinite) {
  for (const char* expression :
       {"fire", "fire(hidden=3, learn=false)", "kernel(a>0=1, bias=-sqrt(a*d^3))"}) {
    const Composition c(expression, model_of(2));
    const FindNonfinite find;
    c.plan(1000, 1000, Phase::train);
    BOOST_TEST(find.found() == "", expression << ": " << find.found());
  }
}

// The root of a tiny number is not treated as the root of 0.
BOOST_AUTO_TEST_CASE(roots_are_those_of_constants_where_they_are_trained) {
  const auto table = [](const char* expression) {
    return Composition(expression, model_of(1))
        .plan(720, 720, Phase::eval)
        .layers[0]
        .rule.bias.to_vector();
  };
  const std::vector<double> trained = table("kernel(a>0=1, bias=-sqrt(exp(-a*d)))"),
                            constant = table("kernel(bias=-sqrt(exp(-d)))");
  for (size_t d = 0; d < trained.size(); ++d) BOOST_TEST(trained[d] == constant[d], d);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
