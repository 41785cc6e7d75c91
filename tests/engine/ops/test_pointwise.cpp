#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "engine/base/parallel.h"
#include "engine/ops/pointwise.h"
#include "tests/support/all_close.h"
#include "tests/support/grad_check.h"
#include "tests/support/random_tensor.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_pointwise)  // ctest: on_cuda arm64
namespace {

struct Unary {
  const char* name;
  Tensor (*op)(const Tensor&);
  double (*reference)(double);
  double low, high;  // where it is defined and not too steep for bfloat16
};
const Unary kUnary[] = {
    {"negate", [](const Tensor& x) { return -x; }, [](double x) { return -x; }, -2, 2},
    {"exp", exp, std::exp, -2, 2},
    {"log", log, std::log, 0.5, 4},
    {"log1p", log1p, std::log1p, -0.5, 4},
    {"sqrt", sqrt, std::sqrt, 0.3, 4},
    {"square", square, [](double x) { return x * x; }, -2, 2},
    {"sin", sin, std::sin, -4, 4},
    {"cos", cos, std::cos, -4, 4},
    {"tanh", tanh, std::tanh, -3, 3},
    {"sigmoid", sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -4, 4},
    {"silu", silu, [](double x) { return x / (1 + std::exp(-x)); }, -4, 4},
    {"gelu", gelu, [](double x) { return x * std::erfc(-x / std::sqrt(2.0)) / 2; }, -4, 4},
    {"gelu_tanh", gelu_tanh,
     [](double x) {
       return x / 2 * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
     },
     -4, 4},
    {"relu", relu, [](double x) { return x < 0 ? 0 : x; }, -2, 2},
    {"elu_plus_one", elu_plus_one, [](double x) { return x > 0 ? x + 1 : std::exp(x); }, -2, 2},
    {"heaviside", heaviside, [](double x) { return x > 0 ? 1.0 : 0.0; }, -2, 2},
};

BOOST_AUTO_TEST_CASE(unary_ops_follow_their_formulas_in_every_dtype) {
  for (const Unary& u : kUnary) {
    BOOST_TEST_CONTEXT(u.name) {
      for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
        BOOST_TEST_CONTEXT(dtype) {
          const Tensor x = random_tensor({7, 13}, 1, u.low, u.high, dtype);
          std::vector<double> want = x.to_vector();
          for (double& value : want) value = u.reference(value);
          const Tensor y = u.op(x);
          BOOST_TEST(y.dtype() == dtype);
          BOOST_TEST(all_close(y, Tensor::from(want, {7, 13}, DType::f64),
                               tolerance(dtype, Work::pointwise)));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(unary_gradients_agree_with_differences_and_across_dtypes) {
  for (const Unary& u : kUnary) {
    BOOST_TEST_CONTEXT(u.name) {
      const auto f = [&u](const std::vector<Tensor>& in) { return u.op(in[0]); };
      const Tensor x = random_tensor({3, 5}, 2, u.low, u.high);
      BOOST_TEST(gradients_agree(f, {x}));
      const auto gradient = [&](DType dtype) {
        Tensor leaf = rounded(rounded(x, DType::bf16), dtype);
        leaf.set_requires_grad();
        const Tensor dy = rounded(random_tensor({3, 5}, 3, -1, 1, DType::bf16), dtype);
        backward(u.op(leaf), dy);
        return leaf.grad();
      };
      const Tensor want = gradient(DType::f64);
      BOOST_TEST(all_close(gradient(DType::f32), want, Tolerance{2e-6, 2e-6}));
      // the saved output is rounded to bfloat16: 2^-9 of it, times a slope of up to 4
      BOOST_TEST(all_close(gradient(DType::bf16), want, Tolerance{2e-2, 2e-2}));
    }
  }
}

struct Binary {
  const char* name;
  Tensor (*op)(const Tensor&, const Tensor&);
  double (*reference)(double, double);
};
const Binary kBinary[] = {
    {"add", [](const Tensor& a, const Tensor& b) { return a + b; },
     [](double a, double b) { return a + b; }},
    {"subtract", [](const Tensor& a, const Tensor& b) { return a - b; },
     [](double a, double b) { return a - b; }},
    {"multiply", [](const Tensor& a, const Tensor& b) { return a * b; },
     [](double a, double b) { return a * b; }},
    {"divide", [](const Tensor& a, const Tensor& b) { return a / b; },
     [](double a, double b) { return a / b; }},
    {"swiglu", [](const Tensor& a, const Tensor& b) { return swiglu(a, b); },
     [](double a, double b) { return a / (1 + std::exp(-a)) * b; }},
    {"pow", [](const Tensor& a, const Tensor& b) { return pow(a, b); },
     [](double a, double b) { return std::pow(a, b); }},
    {"maximum", [](const Tensor& a, const Tensor& b) { return maximum(a, b); },
     [](double a, double b) { return std::max(a, b); }},
    {"minimum", [](const Tensor& a, const Tensor& b) { return minimum(a, b); },
     [](double a, double b) { return std::min(a, b); }},
};

// Element `index` of x as broadcast to `shape`.
double broadcast_at(const std::vector<double>& values, const Shape& from, const Shape& shape,
                    int64_t index) {
  int64_t offset = 0, stride = 1;
  for (int i = 1; i <= shape.rank(); ++i) {
    const int64_t at = index % shape[-i];
    index /= shape[-i];
    if (i > from.rank()) continue;
    offset += from[-i] == 1 ? 0 : at * stride;
    stride *= from[-i];
  }
  return values[static_cast<size_t>(offset)];
}

const std::pair<Shape, Shape> kShapes[] = {
    {{3, 5}, {3, 5}},
    {{3, 5}, {}},
    {{}, {3, 5}},
    {{4, 3, 5}, {5}},
    {{5}, {4, 3, 5}},
    {{4, 3, 5}, {3, 5}},
    {{4, 3, 5}, {4, 1, 1}},
    {{4, 3, 5}, {4, 3, 1}},
    {{4, 1, 5}, {1, 3, 1}},
    {{4, 1}, {7}},
    {{2, 1, 3, 1}, {4, 1, 5}},
    {{1, 1}, {1}},
    {{3, 1, 5}, {3, 4, 5}},
    {{2, 3, 1, 5}, {3, 4, 1}},
    {{}, {}},
};

BOOST_AUTO_TEST_CASE(binary_ops_broadcast_in_every_dtype) {
  for (const Binary& op : kBinary) {
    for (const auto& shapes : kShapes) {
      for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
        BOOST_TEST_CONTEXT(op.name << ' ' << shapes.first << ' ' << shapes.second << ' ' << dtype) {
          const Tensor a = random_tensor(shapes.first, 1, 0.5, 2, dtype);
          const Tensor b = random_tensor(shapes.second, 2, 0.5, 2, dtype);
          const Shape shape = broadcast(shapes.first, shapes.second, "test");
          const auto va = a.to_vector(), vb = b.to_vector();
          std::vector<double> want(static_cast<size_t>(shape.numel()));
          for (int64_t i = 0; i < shape.numel(); ++i)
            want[static_cast<size_t>(i)] = op.reference(broadcast_at(va, shapes.first, shape, i),
                                                        broadcast_at(vb, shapes.second, shape, i));
          BOOST_TEST(all_close(op.op(a, b), Tensor::from(want, shape, DType::f64),
                               tolerance(dtype, Work::pointwise)));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(binary_gradients_sum_over_what_was_broadcast) {
  for (const Binary& op : kBinary) {
    const auto f = [&op](const std::vector<Tensor>& in) { return op.op(in[0], in[1]); };
    for (const auto& shapes : kShapes) {
      BOOST_TEST_CONTEXT(op.name << ' ' << shapes.first << ' ' << shapes.second) {
        BOOST_TEST(gradients_agree(
            f, {random_tensor(shapes.first, 3, 0.5, 2), random_tensor(shapes.second, 4, 0.5, 2)}));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(one_tensor_used_twice_gets_both_gradients) {
  const auto f = [](const std::vector<Tensor>& in) { return in[0] * in[0] + in[0]; };
  BOOST_TEST(gradients_agree(f, {random_tensor({4}, 1)}));
}

BOOST_AUTO_TEST_CASE(only_the_wanted_gradient_is_made) {
  Tensor a = random_tensor({3, 2}, 1), b = random_tensor({2}, 2);
  b.set_requires_grad();
  backward(a * b, Tensor::full({3, 2}, 1, DType::f64));
  BOOST_TEST(!a.grad().defined());
  BOOST_TEST(b.grad().shape() == Shape{2});
}

BOOST_AUTO_TEST_CASE(a_double_is_not_rounded_to_the_dtype_of_the_tensor) {
  // 1 + 2^-8 would round to 1
  BOOST_TEST((Tensor::from({3}, {1}, DType::bf16) * 1.00390625).item() == 3.015625);
  BOOST_TEST((Tensor::full({1}, 1, DType::f64) / 3).item() == 1.0 / 3);
  BOOST_TEST(all_close(3 - Tensor::from({1, 2}, {2}), Tensor::from({2, 1}, {2}), 0));
  BOOST_TEST(all_close(Tensor::from({1, 2}, {2}) - 3, Tensor::from({-2, -1}, {2}), 0));
  BOOST_TEST(all_close(3 / Tensor::from({1, 2}, {2}), Tensor::from({3, 1.5}, {2}), 0));
  BOOST_TEST(all_close(1 + Tensor::from({1, 2}, {2}) + 1, Tensor::from({3, 4}, {2}), 0));
  BOOST_TEST(all_close(pow(2, Tensor::from({1, 3}, {2})), Tensor::from({2, 8}, {2}), 1e-6));
  BOOST_TEST(all_close(pow(Tensor::from({1, 3}, {2}), 2), Tensor::from({1, 9}, {2}), 1e-6));
  BOOST_TEST(all_close(maximum(Tensor::from({1, 3}, {2}), 2), Tensor::from({2, 3}, {2}), 0));
  BOOST_TEST(all_close(minimum(Tensor::from({1, 3}, {2}), 2), Tensor::from({1, 2}, {2}), 0));
}

BOOST_AUTO_TEST_CASE(gradients_pass_through_doubles) {
  const auto f = [](const std::vector<Tensor>& in) {
    return pow(2, 1 - in[0]) + 3 / (in[0] * 2 + 5) - pow(in[0], 3) / 4 + maximum(in[0], 0.1);
  };
  BOOST_TEST(gradients_agree(f, {random_tensor({4, 3}, 1)}));
}

BOOST_AUTO_TEST_CASE(heaviside_is_one_above_zero_however_little) {
  const double least = std::numeric_limits<double>::denorm_min(), inf = INFINITY;
  const Tensor x = Tensor::from({-inf, -least, 0, least, 1, inf, NAN}, {7}, DType::f64);
  const std::vector<double> y = heaviside(x).to_vector();
  const std::vector<double> want = {0, 0, 0, 1, 1, 1};
  BOOST_TEST(std::vector<double>(y.begin(), y.end() - 1) == want, boost::test_tools::per_element());
  BOOST_TEST(std::isnan(y.back()));
}

BOOST_AUTO_TEST_CASE(edges_have_stated_values) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Tensor x = Tensor::from({0, 0}, {2}, DType::f64), b = Tensor::from({2, 3}, {2}, DType::f64);
  b.set_requires_grad();
  backward(pow(x, b), Tensor::full({2}, 1, DType::f64));
  BOOST_TEST(all_close(b.grad(), Tensor::zeros({2}), 0));
  x.set_requires_grad();
  backward(maximum(x, 0), Tensor::full({2}, 1, DType::f64));
  BOOST_TEST(all_close(x.grad(), Tensor::full({2}, 0.5), 0));
  x.set_grad({});
  backward(relu(x), Tensor::full({2}, 1, DType::f64));
  BOOST_TEST(all_close(x.grad(), Tensor::zeros({2}), 0));
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
    const Tensor not_a_number = Tensor::full({}, nan, dtype);
    for (const Unary& u : kUnary)
      BOOST_TEST(std::isnan(u.op(not_a_number).item()), u.name << " of NaN is not NaN");
    BOOST_TEST(std::isnan(maximum(not_a_number, 1).item()));
    BOOST_TEST(std::isnan(minimum(not_a_number, 1).item()));
  }
}

BOOST_AUTO_TEST_CASE(cast_rounds_once_and_passes_gradients) {
  Tensor x = Tensor::from({257, 1.00390625, -3}, {3});
  BOOST_TEST(all_close(cast(x, DType::bf16), Tensor::from({256, 1, -3}, {3}), 0));
  BOOST_TEST(
      all_close(cast(Tensor::from({2.75, -2.75}, {2}), DType::i32), Tensor::from({2, -2}, {2}), 0));
  BOOST_TEST(same_bits(cast(x, DType::f32), x));
  x.set_requires_grad();
  const Tensor y = cast(x, DType::bf16);
  backward(y, Tensor::from({1, 2, 3}, {3}, DType::bf16));
  BOOST_TEST(x.grad().dtype() == DType::f32);
  BOOST_TEST(all_close(x.grad(), Tensor::from({1, 2, 3}, {3}), 0));
  const auto f = [](const std::vector<Tensor>& in) { return cast(in[0], DType::f64) * 2; };
  BOOST_TEST(gradients_agree(f, {random_tensor({3}, 1)}));
}

BOOST_AUTO_TEST_CASE(empty_tensors_are_legal) {
  for (const Shape& shape : {Shape{0}, Shape{3, 0}, Shape{0, 3}}) {
    Tensor x = Tensor::zeros(shape);
    x.set_requires_grad();
    const Tensor y = gelu(x) * 2 + x;
    BOOST_TEST(y.shape() == shape);
    backward(y, Tensor::zeros(shape));
    BOOST_TEST(x.grad().shape() == shape);
  }
  Tensor b = Tensor::full({1}, 2);
  b.set_requires_grad();
  backward(Tensor::zeros({3, 0}) * b, Tensor::zeros({3, 0}));
  BOOST_TEST(all_close(b.grad(), Tensor::zeros({1}), 0));
}

BOOST_AUTO_TEST_CASE(large_tensors_give_the_same_bits_on_any_number_of_threads) {
  const Tensor a = random_tensor({301, 257}, 1, -2, 2, DType::f32);
  const Tensor b = random_tensor({257}, 2, -2, 2, DType::f32);
  const auto run = [&] { return gelu(a * b + exp(b)); };
  set_thread_count(1);
  const Tensor want = run();
  for (const int n : {2, 3}) {
    set_thread_count(n);
    BOOST_TEST(same_bits(run(), want));
  }
  const auto va = a.to_vector(), vb = b.to_vector();
  for (size_t i = 0; i < va.size(); i += 7919) {
    const double u = va[i] * vb[i % 257] + std::exp(vb[i % 257]);
    BOOST_TEST(std::abs(want.to_vector()[i] - u * std::erfc(-u / std::sqrt(2.0)) / 2) < 1e-5);
  }
}

BOOST_AUTO_TEST_CASE(errors_name_the_op_and_what_came) {
  const Tensor x = Tensor::zeros({2, 3});
  BOOST_CHECK_EXCEPTION(x + Tensor::zeros({4}), ShapeError,
                        says_exactly("[add] expected shapes that broadcast, got [2, 3] and [4]"));
  BOOST_CHECK_EXCEPTION(
      x * Tensor::zeros({3}, DType::bf16), DTypeError,
      says_exactly(
          "[multiply] expected equal dtypes, got float32 and bfloat16; cast() one of them"));
  BOOST_CHECK_EXCEPTION(exp(Tensor::zeros({3}, DType::i32)), DTypeError,
                        says_exactly("[exp] expected a floating type, got int32"));
  BOOST_CHECK_EXCEPTION(Tensor::zeros({3}, DType::i32) - 1, DTypeError,
                        says_exactly("[subtract] expected a floating type, got int32"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
