#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "engine/base/parallel.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "tests/support/all_close.h"
#include "tests/support/grad_check.h"
#include "tests/support/random_tensor.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_reduce)  // ctest: on_cuda arm64
namespace {

const DType kFloats[] = {DType::f64, DType::f32, DType::bf16};

Tensor small() { return Tensor::from({1, 2, 3, 4, 5, 7}, {2, 3}, DType::f64); }

BOOST_AUTO_TEST_CASE(a_small_matrix_by_hand) {
  const Tensor x = small();
  BOOST_TEST(sum(x).item() == 22);
  BOOST_TEST(sum(x).shape() == Shape{});
  BOOST_TEST(mean(x).item() == 22.0 / 6);
  BOOST_TEST(all_close(sum(x, 0), Tensor::from({5, 7, 10}, {3}), 0));
  BOOST_TEST(all_close(sum(x, 1), Tensor::from({6, 16}, {2}), 0));
  BOOST_TEST(all_close(sum(x, -1, true), Tensor::from({6, 16}, {2, 1}), 0));
  BOOST_TEST(all_close(mean(x, 0, true), Tensor::from({2.5, 3.5, 5}, {1, 3}), 0));
  BOOST_TEST(all_close(max(x, 1), Tensor::from({3, 7}, {2}), 0));
  BOOST_TEST(all_close(max(x, 0, true), Tensor::from({4, 5, 7}, {1, 3}), 0));
  BOOST_TEST(all_close(logsumexp(x, 1),
                       Tensor::from({std::log(std::exp(1) + std::exp(2) + std::exp(3)),
                                     std::log(std::exp(4) + std::exp(5) + std::exp(7))},
                                    {2}, DType::f64),
                       1e-14));
  BOOST_TEST(all_close(sum_to(x, {1, 3}), Tensor::from({5, 7, 10}, {1, 3}), 0));
  BOOST_TEST(all_close(sum_to(x, {3}), Tensor::from({5, 7, 10}, {3}), 0));
  BOOST_TEST(all_close(sum_to(x, {2, 1}), Tensor::from({6, 16}, {2, 1}), 0));
  BOOST_TEST(all_close(sum_to(x, {}), Tensor::from({22}, {}), 0));
}

BOOST_AUTO_TEST_CASE(sums_over_any_dimension_and_size_agree_with_plain_loops) {
  // sizes around the blocks and chunks of the kernels
  for (const Shape& shape : {Shape{3, 1, 5}, Shape{2, 7, 33}, Shape{1, 2500, 3}, Shape{3, 40000, 1},
                             Shape{70000, 1, 1}, Shape{2, 37, 1030}, Shape{1, 3, 40001}}) {
    for (const DType dtype : kFloats) {
      const Tensor x = random_tensor(shape, 1, 0, 1, dtype);
      const auto values = x.to_vector();
      for (int dim = 0; dim < 3; ++dim) {
        BOOST_TEST_CONTEXT(shape << ' ' << dtype << " dim " << dim) {
          const Shape result = shape.without(dim);
          const int64_t n = shape[dim], inner = shape.product(dim + 1, 3);
          std::vector<double> total(static_cast<size_t>(result.numel()));
          for (size_t i = 0; i < values.size(); ++i) {
            const auto at = static_cast<int64_t>(i);
            total[static_cast<size_t>(at / (n * inner) * inner + at % inner)] += values[i];
          }
          BOOST_TEST(all_close(sum(x, dim), Tensor::from(total, result, DType::f64),
                               tolerance(dtype, Work::reduction)));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(sums_do_not_depend_on_the_number_of_threads) {
  const Tensor x = random_tensor({5, 123, 701}, 1, -1, 1, DType::f32);
  std::vector<Tensor> want;
  for (const int n : {1, 2, 3}) {
    set_thread_count(n);
    const std::vector<Tensor> got{sum(x),    sum(x, 0), sum(x, 1),
                                  sum(x, 2), max(x, 1), sum_to(x, {123, 1})};
    if (want.empty()) want = got;
    for (size_t i = 0; i < got.size(); ++i) BOOST_TEST(same_bits(got[i], want[i]));
  }
}

BOOST_AUTO_TEST_CASE(a_long_float32_sum_stays_accurate) {
  const Tensor x = Tensor::full({1000003}, 0.1);
  BOOST_TEST(std::abs(sum(x).item() / (1000003 * static_cast<double>(0.1f)) - 1) < 5e-7);
}

BOOST_AUTO_TEST_CASE(gradients_agree_with_differences) {
  const Tensor x = random_tensor({3, 4, 5}, 1);
  const auto check = [&](auto f) {
    BOOST_TEST(gradients_agree([&](const std::vector<Tensor>& in) { return f(in[0]); }, {x}));
  };
  check([](const Tensor& a) { return sum(a); });
  check([](const Tensor& a) { return mean(a); });
  for (const int dim : {0, 1, 2, -1}) {
    for (const bool keepdim : {false, true}) {
      BOOST_TEST_CONTEXT("dim " << dim << " keepdim " << keepdim) {
        check([&](const Tensor& a) { return sum(a, dim, keepdim); });
        check([&](const Tensor& a) { return mean(a, dim, keepdim); });
        check([&](const Tensor& a) { return max(a, dim, keepdim); });
        check([&](const Tensor& a) { return logsumexp(a, dim, keepdim); });
      }
    }
  }
  for (const Shape& shape : {Shape{3, 4, 5}, Shape{4, 5}, Shape{5}, Shape{1}, Shape{}, Shape{4, 1},
                             Shape{3, 1, 5}, Shape{3, 1, 1}, Shape{1, 4, 1}, Shape{1, 1, 5}})
    BOOST_TEST_CONTEXT(shape) {
      check([&](const Tensor& a) { return sum_to(a, shape); });
    }
}

BOOST_AUTO_TEST_CASE(sum_to_undoes_every_broadcast) {
  const Tensor x = random_tensor({3, 4, 5}, 1);
  const Tensor ones = Tensor::full({3, 4, 5}, 1, DType::f64);
  for (const Shape& shape : {Shape{4, 5}, Shape{1, 5}, Shape{3, 1, 5}, Shape{1, 4, 1}, Shape{}}) {
    const Tensor y = random_tensor(shape, 2);
    // sum(x (y broadcast)) = sum(sum_to(x) y)
    BOOST_TEST(std::abs(sum(x * (y * ones)).item() - sum(sum_to(x, shape) * y).item()) < 1e-12);
  }
}

BOOST_AUTO_TEST_CASE(max_gives_the_gradient_to_the_first_of_equals_and_shows_nan) {
  Tensor x = Tensor::from({1, 3, 3, 2}, {1, 4});
  x.set_requires_grad();
  backward(max(x, 1), Tensor::full({1}, 5));
  BOOST_TEST(all_close(x.grad(), Tensor::from({0, 5, 0, 0}, {1, 4}), 0));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  BOOST_TEST(std::isnan(max(Tensor::from({1, nan, 3}, {3}), 0).item()));
  BOOST_TEST(std::isnan(max(Tensor::from({nan, 3}, {2}), 0).item()));
}

BOOST_AUTO_TEST_CASE(logsumexp_neither_overflows_nor_makes_nan) {
  const double infinity = HUGE_VAL;
  BOOST_TEST(std::abs(logsumexp(Tensor::from({1000, 1000}, {2}), 0).item() - 1000 - std::log(2)) <
             1e-4);
  BOOST_TEST(std::abs(logsumexp(Tensor::from({-1000, -1000}, {2}), 0).item() + 1000 - std::log(2)) <
             1e-4);
  BOOST_TEST(logsumexp(Tensor::from({-infinity, -infinity}, {2}), 0).item() == -infinity);
}

BOOST_AUTO_TEST_CASE(empty_sums_are_zero_and_empty_maxima_an_error) {
  BOOST_TEST(sum(Tensor::zeros({0})).item() == 0);
  BOOST_TEST(all_close(sum(Tensor::zeros({3, 0}), 1), Tensor::zeros({3}), 0));
  BOOST_TEST(all_close(sum(Tensor::zeros({0, 3}), 0), Tensor::zeros({3}), 0));
  BOOST_TEST(sum(Tensor::zeros({0, 3}), 1).shape() == Shape{0});
  BOOST_TEST(all_close(sum_to(Tensor::zeros({0, 3}), {3}), Tensor::zeros({3}), 0));
  BOOST_CHECK_EXCEPTION(
      max(Tensor::zeros({3, 0}), 1), ShapeError,
      says_exactly("[max] expected at least one element in dimension 1, got shape [3, 0]"));
  BOOST_CHECK_EXCEPTION(mean(Tensor::zeros({0})), ShapeError,
                        says_exactly("[mean] expected at least one element, got shape [0]"));
  BOOST_CHECK_EXCEPTION(
      logsumexp(Tensor::zeros({0}), 0), ShapeError,
      says_exactly("[logsumexp] expected at least one element in dimension 0, got shape [0]"));
}

BOOST_AUTO_TEST_CASE(errors_name_the_op_and_what_came) {
  const Tensor x = Tensor::zeros({2, 3});
  BOOST_CHECK_EXCEPTION(sum(x, 2), ShapeError,
                        says_exactly("[sum] expected a dimension of x[2, 3], got 2"));
  BOOST_CHECK_EXCEPTION(sum(Tensor::zeros({2}, DType::i32)), DTypeError,
                        says_exactly("[sum] expected a floating type, got int32"));
  BOOST_CHECK_EXCEPTION(
      sum_to(x, {2}), ShapeError,
      says_exactly("[sum_to] expected a shape that broadcasts to [2, 3], got [2]"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
