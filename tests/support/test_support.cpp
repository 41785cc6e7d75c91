#include <boost/test/unit_test.hpp>
#include <limits>

#include "tests/support/all_close.h"
#include "tests/support/grad_check.h"
#include "tests/support/largest_error.h"
#include "tests/support/random_tensor.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_support)  // ctest: on_cuda
namespace {

std::string text(const boost::test_tools::assertion_result& result) {
  const auto message = result.message();
  return std::string(message.begin(), message.end());
}

BOOST_AUTO_TEST_CASE(all_close_names_the_worst_element) {
  const Tensor want = Tensor::from({1, 2, 3, 4}, {2, 2}, DType::f64);
  const Tensor got = Tensor::from({1, 2.5, 3, 5}, {2, 2}, DType::f64);
  BOOST_TEST(all_close(want, want, 0));
  BOOST_TEST(all_close(got, want, 1));
  BOOST_TEST(!all_close(got, want, 0));
  BOOST_TEST(text(all_close(got, want, Tolerance{0.25, 0})) ==
             "2 of 4 differ; worst at [1, 1]: got 5, want 4, difference 1, allowed 0.25");
}

BOOST_AUTO_TEST_CASE(the_largest_error_is_nan_when_one_is) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = HUGE_VAL;
  using test::largest_error;
  BOOST_TEST(largest_error({1, 2, infinity}, {1, 2.5, infinity}) == 0.5);
  BOOST_TEST(largest_error({1, infinity}, {1, -infinity}) == infinity);
  for (size_t i = 0; i < 3; ++i) {
    std::vector<double> got = {3, 1, 4};
    got[i] = nan;
    BOOST_TEST(std::isnan(largest_error(got, {3, 1, 3})));
    BOOST_TEST(std::isnan(largest_error({3, 1, 3}, got)));
  }
}

BOOST_AUTO_TEST_CASE(all_close_refuses_nan_and_other_shapes) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = HUGE_VAL;
  const auto vector = [](double x) { return Tensor::from({x}, {1}, DType::f64); };
  BOOST_TEST(!all_close(vector(nan), vector(1), 10));
  BOOST_TEST(!all_close(vector(1), vector(nan), 10));
  BOOST_TEST(!all_close(vector(nan), vector(nan), 10));
  BOOST_TEST(!all_close(vector(1), vector(infinity), 10));
  BOOST_TEST(!all_close(vector(-infinity), vector(infinity), 10));
  BOOST_TEST(all_close(vector(infinity), vector(infinity), 0));
  BOOST_TEST(text(all_close(vector(1), Tensor::zeros({1, 1}), 10)) ==
             "expected shape [1, 1], got [1]");
  BOOST_TEST(text(all_close(Tensor(), vector(1), 1)) ==
             "expected shape [1], got an undefined tensor");
}

BOOST_AUTO_TEST_CASE(same_bits_tells_minus_zero_from_zero) {
  BOOST_TEST(same_bits(Tensor::from({-0.0}, {1}), Tensor::from({-0.0}, {1})));
  BOOST_TEST(!same_bits(Tensor::from({-0.0}, {1}), Tensor::from({0.0}, {1})));
  BOOST_TEST(!same_bits(Tensor::zeros({1}), Tensor::zeros({1}, DType::i32)));
}

// y = factor x^2 that claims dy/dx = 2 x.
Tensor square_with_factor(const Tensor& x, double factor) {
  std::vector<double> values = x.to_vector();
  for (double& value : values) value *= factor * value;
  Tensor y = Tensor::from(values, x.shape(), DType::f64);
  record("square", y, {x}, [x = x.detach()](const Tensor& dy) {
    std::vector<double> dx = dy.to_vector();
    for (size_t i = 0; i < dx.size(); ++i) dx[i] *= 2 * x.to_vector()[i];
    return Grads{Tensor::from(dx, x.shape(), DType::f64)};
  });
  return y;
}

BOOST_AUTO_TEST_CASE(a_right_gradient_agrees_and_a_wrong_one_does_not) {
  const Tensor x = random_tensor({2, 3}, 1, 0.5, 1);
  const auto f = [](double factor) {
    return [factor](const std::vector<Tensor>& in) { return square_with_factor(in[0], factor); };
  };
  BOOST_TEST(gradients_agree(f(1), {x}));
  const auto wrong = gradients_agree(f(1.001), {x});
  BOOST_TEST(!wrong);
  BOOST_TEST(text(wrong).find("input 0, element ") == 0u);
  // a missing gradient counts as zero
  BOOST_TEST(!gradients_agree(
      [](const std::vector<Tensor>& in) { return square_with_factor(in[0].detach(), 1); }, {x}));
}

BOOST_AUTO_TEST_CASE(random_tensors_depend_on_the_seed_alone) {
  BOOST_TEST(same_bits(random_tensor({5}, 3), random_tensor({5}, 3)));
  BOOST_TEST(!same_bits(random_tensor({5}, 3), random_tensor({5}, 4)));
  for (const double x : random_tensor({100}, 1, 2, 3).to_vector()) BOOST_TEST((x >= 2 && x < 3));
  for (const double x : random_ids({100}, 1, 7).to_vector()) BOOST_TEST((x >= 0 && x < 7));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
