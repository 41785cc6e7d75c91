#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/base/parallel.h"
#include "engine/ops/norm.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/view.h"
#include "tests/support/all_close.h"
#include "tests/support/grad_check.h"
#include "tests/support/random_tensor.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_norm)  // ctest: on_cuda:sanitize arm64
namespace {

constexpr double kEps = 1e-5;

// The formula in double.
Tensor reference(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  std::vector<double> y = x.to_vector();
  const auto w = weight.to_vector(), b = bias.to_vector();
  const size_t d = w.size();
  for (size_t row = 0; row < y.size(); row += d) {
    double mean = 0, variance = 0;
    for (size_t i = 0; i < d; ++i) mean += y[row + i] / static_cast<double>(d);
    for (size_t i = 0; i < d; ++i)
      variance += (y[row + i] - mean) * (y[row + i] - mean) / static_cast<double>(d);
    for (size_t i = 0; i < d; ++i)
      y[row + i] = (y[row + i] - mean) / std::sqrt(variance + eps) * w[i] + b[i];
  }
  return Tensor::from(y, x.shape(), DType::f64);
}

struct Case {
  Tensor x, residual, weight, bias;
};
Case make(const Shape& shape, DType dtype) {
  const Shape row{shape[-1]};
  const DType acc = accumulate_dtype(dtype);
  return {random_tensor(shape, 1, -1, 1, dtype), random_tensor(shape, 2, -1, 1, dtype),
          random_tensor(row, 3, 0.5, 1.5, acc), random_tensor(row, 4, -1, 1, acc)};
}

const Shape kShapes[] = {{1},      {3, 1},        {2, 3, 8}, {5, 33},
                         {37, 64}, {2, 100, 257}, {1, 4096}, {3, 5000}};

BOOST_AUTO_TEST_CASE(a_small_row_by_hand) {
  const Tensor x = Tensor::from({1, 3}, {2}, DType::f64);
  const Tensor w = Tensor::from({2, 10}, {2}, DType::f64),
               b = Tensor::from({0, 1}, {2}, DType::f64);
  BOOST_TEST(all_close(layer_norm(x, w, b, 0), Tensor::from({-2, 11}, {2}), 1e-15));
  BOOST_TEST(all_close(layer_norm(x, w, b, 3), Tensor::from({-1, 6}, {2}), 1e-15));
}

BOOST_AUTO_TEST_CASE(every_dtype_and_size_agrees_with_the_formula_in_float64) {
  for (const Shape& shape : kShapes) {
    for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
      BOOST_TEST_CONTEXT(shape << ' ' << dtype) {
        const Case c = make(shape, dtype);
        const Tolerance tol = tolerance(dtype, Work::reduction);
        BOOST_TEST(all_close(layer_norm(c.x, c.weight, c.bias, kEps),
                             reference(c.x, c.weight, c.bias, kEps), tol));
        const SumAndNorm got = add_layer_norm(c.x, c.residual, c.weight, c.bias, kEps);
        BOOST_TEST(same_bits(got.sum, c.x + c.residual));
        BOOST_TEST(all_close(got.normed, reference(got.sum, c.weight, c.bias, kEps), tol));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_small_rms_norm_by_hand) {
  const Tensor x = Tensor::from({1, 7}, {2}, DType::f64),
               w = Tensor::from({2, 10}, {2}, DType::f64);
  BOOST_TEST(all_close(rms_norm(x, w, 0), Tensor::from({0.4, 14}, {2}, DType::f64), 1e-14));
  BOOST_TEST(
      all_close(rms_norm(x, w, 11), Tensor::from({1.0 / 3, 70.0 / 6}, {2}, DType::f64), 1e-14));
}

// RMS norm is the layer norm of (x, -x), whose mean is 0.
BOOST_AUTO_TEST_CASE(rms_norm_of_every_dtype_is_the_layer_norm_of_a_mirrored_row) {
  for (const Shape& shape : kShapes)
    for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
      BOOST_TEST_CONTEXT(shape << ' ' << dtype) {
        const Case c = make(shape, dtype);
        const Tolerance tol = tolerance(dtype, Work::reduction);
        const int64_t d = shape[-1];
        const auto want = [&](const Tensor& x) {
          const Tensor wide = cast(x, DType::f64), w = cast(c.weight, DType::f64);
          const Tensor both = concat({wide, -wide}, -1);
          return slice(reference(both, concat({w, w}, 0), Tensor::zeros({2 * d}, DType::f64), kEps),
                       -1, 0, d);
        };
        BOOST_TEST(all_close(rms_norm(c.x, c.weight, kEps), want(c.x), tol));
        const SumAndNorm got = add_rms_norm(c.x, c.residual, c.weight, kEps);
        BOOST_TEST(same_bits(got.sum, c.x + c.residual));
        BOOST_TEST(all_close(got.normed, want(got.sum), tol));
        BOOST_TEST(same_bits(
            layer_norm(c.x, c.weight, {}, kEps),
            layer_norm(c.x, c.weight, Tensor::zeros(c.bias.shape(), c.bias.dtype()), kEps)));
      }
    }
}

BOOST_AUTO_TEST_CASE(gradients_of_norms_without_a_bias_agree_with_differences) {
  for (const Shape& shape : {Shape{2}, Shape{3, 5}, Shape{2, 3, 17}}) {
    BOOST_TEST_CONTEXT(shape) {
      const Case c = make(shape, DType::f64);
      BOOST_TEST(gradients_agree(
          [](const std::vector<Tensor>& in) { return rms_norm(in[0], in[1], 1e-2); },
          {c.x, c.weight}));
      BOOST_TEST(gradients_agree(
          [](const std::vector<Tensor>& in) { return layer_norm(in[0], in[1], {}, 1e-2); },
          {c.x, c.weight}));
      BOOST_TEST(gradients_agree(
          [](const std::vector<Tensor>& in) {
            const SumAndNorm y = add_rms_norm(in[0], in[1], in[2], 1e-2);
            return std::vector<Tensor>{y.sum, y.normed};
          },
          {c.x, c.residual, c.weight}));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_large_mean_does_not_cancel_the_variance) {
  const Tensor x = random_tensor({4, 256}, 1, 9999, 10001, DType::f32);
  const Tensor one = Tensor::full({256}, 1), zero = Tensor::zeros({256});
  // the mean itself carries an error of 1e-7 of 10^4, against a deviation of 0.6
  BOOST_TEST(all_close(layer_norm(x, one, zero, kEps), reference(x, one, zero, kEps), 5e-3));
}

BOOST_AUTO_TEST_CASE(gradients_agree_with_differences) {
  for (const Shape& shape : {Shape{2}, Shape{3, 5}, Shape{2, 3, 17}}) {
    BOOST_TEST_CONTEXT(shape) {
      const Case c = make(shape, DType::f64);
      BOOST_TEST(gradients_agree(
          [](const std::vector<Tensor>& in) { return layer_norm(in[0], in[1], in[2], 1e-2); },
          {c.x, c.weight, c.bias}));
      BOOST_TEST(gradients_agree(
          [](const std::vector<Tensor>& in) {
            const SumAndNorm y = add_layer_norm(in[0], in[1], in[2], in[3], 1e-2);
            return std::vector<Tensor>{y.sum, y.normed};
          },
          {c.x, c.residual, c.weight, c.bias}));
    }
  }
}

BOOST_AUTO_TEST_CASE(each_output_alone_passes_its_gradient) {
  const Case c = make({3, 5}, DType::f64);
  for (const bool normed : {false, true}) {
    BOOST_TEST(gradients_agree(
        [normed](const std::vector<Tensor>& in) {
          const SumAndNorm y = add_layer_norm(in[0], in[1], in[2], in[3], 1e-2);
          return normed ? y.normed : y.sum;
        },
        {c.x, c.residual, c.weight, c.bias}));
  }
}

// Gradients of x, weight and bias of add_layer_norm through both outputs, for inputs that are exact
// in bfloat16.
std::vector<Tensor> gradients(const Shape& shape, DType dtype) {
  const Case c = make(shape, DType::bf16);
  Tensor x = rounded(c.x, dtype), w = rounded(c.weight, accumulate_dtype(dtype)),
         b = rounded(c.bias, accumulate_dtype(dtype));
  for (Tensor* leaf : {&x, &w, &b}) leaf->set_requires_grad();
  const SumAndNorm y = add_layer_norm(x, rounded(c.residual, dtype), w, b, kEps);
  const Tensor dsum = rounded(random_tensor(shape, 5, -1, 1, DType::bf16), dtype);
  const Tensor dy = rounded(random_tensor(shape, 6, -1, 1, DType::bf16), dtype);
  backward(dot({cast(y.sum, DType::f64), cast(y.normed, DType::f64)},
               {cast(dsum, DType::f64), cast(dy, DType::f64)}));
  return {x.grad(), w.grad(), b.grad()};
}

BOOST_AUTO_TEST_CASE(gradients_of_every_dtype_agree_with_float64) {
  for (const Shape& shape : {Shape{5, 33}, Shape{37, 64}, Shape{3, 67, 129}, Shape{3, 2500}}) {
    const std::vector<Tensor> want = gradients(shape, DType::f64);
    const std::vector<Tensor> f32 = gradients(shape, DType::f32);
    const std::vector<Tensor> bf16 = gradients(shape, DType::bf16);
    for (size_t i = 0; i < want.size(); ++i) {
      BOOST_TEST_CONTEXT(shape << " input " << i) {
        // the sums over rows have up to 201 terms of size one
        BOOST_TEST(all_close(f32[i], want[i], Tolerance{2e-5, 5e-6}));
        // the sum x + residual is stored in bfloat16: its rounding enters every term
        BOOST_TEST(all_close(bf16[i], want[i], Tolerance{i == 0 ? 2e-2 : 0.1, 1e-2}));
      }
    }
  }
}

// On the CPU the means of several rows are finished together.
BOOST_AUTO_TEST_CASE(a_row_has_the_same_bits_alone_and_nan_stays_in_its_row) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
    Case c = make({37, 40}, dtype);
    std::vector<double> values = c.x.to_vector();
    values[5 * 40 + 7] = std::numeric_limits<double>::quiet_NaN();
    c.x = Tensor::from(values, c.x.shape(), dtype);
    Tensor x = c.x;
    x.set_requires_grad();
    const Tensor y = layer_norm(x, c.weight, c.bias, kEps);
    backward(dot({cast(y, DType::f64)}, {cast(c.residual, DType::f64)}));
    for (int64_t row = 0; row < 37; ++row) {
      Tensor alone = slice(c.x, 0, row, row + 1).clone();
      alone.set_requires_grad();
      const Tensor y_alone = layer_norm(alone, c.weight, c.bias, kEps);
      backward(
          dot({cast(y_alone, DType::f64)}, {cast(slice(c.residual, 0, row, row + 1), DType::f64)}));
      const auto is_same = [&](const Tensor& all, const Tensor& one) {
        const Tensor part = slice(all, 0, row, row + 1);
        return row == 5 ? std::isnan(part.to_vector()[0]) : static_cast<bool>(same_bits(part, one));
      };
      BOOST_TEST(is_same(y, y_alone), dtype << ' ' << row);
      BOOST_TEST(is_same(x.grad(), alone.grad()), dtype << ' ' << row);
    }
  }
}

BOOST_AUTO_TEST_CASE(gradients_do_not_depend_on_the_number_of_threads) {
  set_thread_count(1);
  const std::vector<Tensor> want = gradients({3, 331, 129}, DType::f32);
  for (const int n : {2, 3}) {
    set_thread_count(n);
    const std::vector<Tensor> got = gradients({3, 331, 129}, DType::f32);
    for (size_t i = 0; i < want.size(); ++i) BOOST_TEST(same_bits(got[i], want[i]));
  }
}

BOOST_AUTO_TEST_CASE(no_rows_are_legal) {
  Tensor w = Tensor::full({3}, 1), b = Tensor::zeros({3});
  w.set_requires_grad();
  const Tensor y = layer_norm(Tensor::zeros({0, 3}), w, b, kEps);
  BOOST_TEST(y.shape() == (Shape{0, 3}));
  backward(y, Tensor::zeros({0, 3}));
  BOOST_TEST(all_close(w.grad(), Tensor::zeros({3}), 0));
}

BOOST_AUTO_TEST_CASE(errors_name_the_op_and_what_came) {
  const Tensor x = Tensor::zeros({2, 3}), w = Tensor::zeros({3}), wrong = Tensor::zeros({2});
  BOOST_CHECK_EXCEPTION(
      layer_norm(x, w, wrong, kEps), ShapeError,
      says_exactly("[layer_norm] expected weight and bias of shape [3] for x[2, 3], got "
                   "[3] and [2]"));
  BOOST_CHECK_EXCEPTION(
      layer_norm(cast(x, DType::f64), w, w, kEps), DTypeError,
      says_exactly("[layer_norm] expected weight and bias in float64 for x in float64, "
                   "got float32 and float32"));
  BOOST_CHECK_EXCEPTION(
      layer_norm(Tensor::zeros({2, 0}), w, w, kEps), ShapeError,
      says_exactly("[layer_norm] expected rows of at least one element, got x[2, 0]"));
  BOOST_CHECK_EXCEPTION(
      add_layer_norm(x, w, w, w, kEps), ShapeError,
      says_exactly("[add_layer_norm] expected a residual of the shape of x[2, 3], got [3]"));
  BOOST_CHECK_EXCEPTION(
      add_layer_norm(x, cast(x, DType::bf16), w, w, kEps), DTypeError,
      says_exactly("[add_layer_norm] expected a residual in float32, got bfloat16"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
