#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/base/parallel.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/softmax.h"
#include "tests/support/all_close.h"
#include "tests/support/grad_check.h"
#include "tests/support/random_tensor.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_softmax)  // ctest: on_cuda:sanitize arm64
namespace {

BOOST_AUTO_TEST_CASE(a_small_row_by_hand) {
  const Tensor x = Tensor::from({0, std::log(3), 1, 1}, {2, 2}, DType::f64);
  BOOST_TEST(
      all_close(softmax(x), Tensor::from({0.25, 0.75, 0.5, 0.5}, {2, 2}, DType::f64), 1e-15));
  BOOST_TEST(all_close(log_softmax(x),
                       Tensor::from({std::log(0.25), std::log(0.75), std::log(0.5), std::log(0.5)},
                                    {2, 2}, DType::f64),
                       1e-15));
}

BOOST_AUTO_TEST_CASE(every_dtype_agrees_with_float64) {
  for (const Shape& shape : {Shape{1}, Shape{5, 1}, Shape{3, 7, 33}, Shape{2, 20000}}) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
      BOOST_TEST_CONTEXT(shape << ' ' << dtype) {
        const Tensor x = random_tensor(shape, 1, -5, 5, dtype);
        const Tensor exact = cast(x, DType::f64);
        BOOST_TEST(all_close(softmax(x), softmax(exact), tolerance(dtype, Work::reduction)));
        BOOST_TEST(
            all_close(log_softmax(x), log_softmax(exact), tolerance(dtype, Work::reduction)));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(gradients_agree_with_differences) {
  const auto soft = [](const std::vector<Tensor>& in) { return softmax(in[0]); };
  const auto log_soft = [](const std::vector<Tensor>& in) { return log_softmax(in[0]); };
  for (const Shape& shape : {Shape{5}, Shape{3, 1}, Shape{2, 3, 7}}) {
    BOOST_TEST_CONTEXT(shape) {
      BOOST_TEST(gradients_agree(soft, {random_tensor(shape, 1, -2, 2)}));
      BOOST_TEST(gradients_agree(log_soft, {random_tensor(shape, 1, -2, 2)}));
    }
  }
}

BOOST_AUTO_TEST_CASE(gradients_of_every_dtype_agree_with_float64) {
  const Tensor x = random_tensor({5, 33}, 1, -2, 2, DType::bf16);
  const Tensor dy = random_tensor({5, 33}, 2, -1, 1, DType::bf16);
  for (const auto op : {softmax, log_softmax}) {
    const auto gradient = [&](DType dtype) {
      Tensor leaf = rounded(x, dtype);
      leaf.set_requires_grad();
      backward(op(leaf), rounded(dy, dtype));
      return leaf.grad();
    };
    BOOST_TEST(all_close(gradient(DType::f32), gradient(DType::f64),
                         tolerance(DType::f32, Work::reduction)));
    // y is kept in bfloat16
    BOOST_TEST(all_close(gradient(DType::bf16), gradient(DType::f64), Tolerance{5e-2, 1e-2}));
  }
}

BOOST_AUTO_TEST_CASE(large_values_and_masked_ones_are_no_trouble) {
  const double infinity = HUGE_VAL;
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
    BOOST_TEST(all_close(softmax(Tensor::from({10000, 10000}, {2}, dtype)),
                         Tensor::from({0.5, 0.5}, {2}), 0));
    BOOST_TEST(all_close(softmax(Tensor::from({-10000, -infinity}, {2}, dtype)),
                         Tensor::from({1, 0}, {2}), 0));
    BOOST_TEST(all_close(log_softmax(Tensor::from({0, -infinity}, {2}, dtype)),
                         Tensor::from({0, -infinity}, {2}), 0));
    BOOST_TEST(std::isnan(softmax(Tensor::from({0, std::nan("")}, {2}, dtype)).to_vector()[0]));
  }
}

BOOST_AUTO_TEST_CASE(rows_do_not_depend_on_the_number_of_threads) {
  const Tensor x = random_tensor({301, 257}, 1, -3, 3, DType::f32);
  set_thread_count(1);
  const Tensor want = softmax(x);
  for (const int n : {2, 3}) {
    set_thread_count(n);
    BOOST_TEST(same_bits(softmax(x), want));
  }
}

BOOST_AUTO_TEST_CASE(no_rows_are_legal_and_no_dimension_is_an_error) {
  BOOST_TEST(softmax(Tensor::zeros({0, 3})).shape() == (Shape{0, 3}));
  BOOST_TEST(softmax(Tensor::zeros({3, 0})).shape() == (Shape{3, 0}));
  BOOST_CHECK_EXCEPTION(softmax(Tensor::zeros({})), ShapeError,
                        says_exactly("[softmax] expected at least one dimension, got shape []"));
  BOOST_CHECK_EXCEPTION(log_softmax(Tensor::zeros({2}, DType::i32)), DTypeError,
                        says_exactly("[log_softmax] expected a floating type, got int32"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
