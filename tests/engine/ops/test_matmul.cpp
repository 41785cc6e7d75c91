#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/autograd.h"
#include "engine/base/parallel.h"
#include "engine/ops/matmul.h"
#include "engine/ops/pointwise.h"
#include "tests/support/all_close.h"
#include "tests/support/grad_check.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_matmul)  // ctest: on_cuda arm64
namespace {

double gelu(double u) { return 0.5 * u * std::erfc(-u * std::sqrt(0.5)); }

// f(x w^T + bias) by plain loops in float64.
Tensor plain_linear(const Tensor& x, const Tensor& w, const Tensor& bias, Activation activation) {
  const auto xs = x.to_vector(), ws = w.to_vector();
  const auto bs =
      bias.defined() ? bias.to_vector() : std::vector<double>(static_cast<size_t>(w.dim(0)));
  const auto i = static_cast<size_t>(w.dim(1)), o = static_cast<size_t>(w.dim(0));
  std::vector<double> y(xs.size() / i * o);
  for (size_t row = 0; row < xs.size() / i; ++row)
    for (size_t col = 0; col < o; ++col) {
      double u = bs[col];
      for (size_t l = 0; l < i; ++l) u += xs[row * i + l] * ws[col * i + l];
      y[row * o + col] = activation == Activation::gelu ? gelu(u) : u;
    }
  return Tensor::from(y, x.shape().with(-1, w.dim(0)), DType::f64);
}

BOOST_AUTO_TEST_CASE(a_small_product_by_hand) {
  const Tensor a = Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor b = Tensor::from({1, 0, 0, 1, 2, -1}, {3, 2});
  BOOST_TEST(all_close(matmul(a, b), Tensor::from({7, -1, 16, -1}, {2, 2}), 0.0));
}

BOOST_AUTO_TEST_CASE(a_stack_of_products_multiplies_each) {
  const Tensor a = random_tensor({2, 3, 4, 5}, 1), b = random_tensor({2, 3, 5, 6}, 2);
  const Tensor c = matmul(a, b);
  BOOST_TEST(c.shape() == (Shape{2, 3, 4, 6}));
  for (int64_t i = 0; i < 6; ++i)
    BOOST_TEST(
        same_bits(c.view({4, 6}, i * 24), matmul(a.view({4, 5}, i * 20), b.view({5, 6}, i * 30))));
}

BOOST_AUTO_TEST_CASE(gradients_of_matmul_agree_with_differences) {
  const auto f = [](const std::vector<Tensor>& x) { return matmul(x[0], x[1]); };
  BOOST_TEST(gradients_agree(f, {random_tensor({3, 5}, 1), random_tensor({5, 4}, 2)}));
  BOOST_TEST(gradients_agree(f, {random_tensor({2, 3, 5}, 1), random_tensor({2, 5, 4}, 2)}));
}

BOOST_AUTO_TEST_CASE(gradients_of_linear_agree_with_differences) {
  for (const Activation activation : {Activation::none, Activation::gelu}) {
    const Tensor x = random_tensor({2, 3, 5}, 1, -2, 2), w = random_tensor({7, 5}, 2);
    BOOST_TEST(gradients_agree(
        [&](const std::vector<Tensor>& in) { return linear(in[0], in[1], in[2], activation); },
        {x, w, random_tensor({7}, 3)}));
    BOOST_TEST(gradients_agree(
        [&](const std::vector<Tensor>& in) { return linear(in[0], in[1], {}, activation); },
        {x, w}));
  }
}

BOOST_AUTO_TEST_CASE(linear_agrees_with_plain_loops_in_every_type_and_over_panels) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64})
    for (const Activation activation : {Activation::none, Activation::gelu})
      for (const bool with_bias : {false, true})
        for (const Shape& size : {Shape{1, 1, 1}, Shape{5, 7, 3}, Shape{300, 850, 33}}) {
          const DType master = accumulate_dtype(dtype);
          const Tensor x = random_tensor({size[0], size[2]}, 1, -1, 1, dtype);
          const Tensor w = random_tensor({size[1], size[2]}, 2, -1, 1, master);
          const Tensor bias = with_bias ? random_tensor({size[1]}, 3, -1, 1, master) : Tensor();
          const Tensor want = plain_linear(x, rounded(w, dtype), bias, activation);
          BOOST_TEST(
              all_close(linear(x, w, bias, activation), want, tolerance(dtype, Work::product)),
              dtype << ", size " << size << ", bias " << with_bias);
        }
}

BOOST_AUTO_TEST_CASE(a_wide_product_is_not_rounded) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64})
    for (const Shape& size :
         {Shape{1, 1, 1}, Shape{1, 70, 4100}, Shape{1, 700, 33}, Shape{5, 70, 33}}) {
      const Tensor x = random_tensor({size[0], size[2]}, 1, -1, 1, dtype),
                   w = random_tensor({size[1], size[2]}, 2, -1, 1, dtype);
      const Tensor got = wide_linear(x, w);
      BOOST_TEST(got.dtype() == accumulate_dtype(dtype));
      const Tensor want =
          plain_linear(cast(x, DType::f64), cast(w, DType::f64), {}, Activation::none);
      BOOST_TEST(all_close(got, want, Tolerance(dtype == DType::f64 ? 1e-12 : 2e-4)),
                 dtype << ", size " << size);
    }
  BOOST_CHECK_THROW(wide_linear(Tensor::zeros({1, 3}), Tensor::zeros({2, 4})), ShapeError);
  BOOST_CHECK_THROW(wide_linear(Tensor::zeros({1, 3}), Tensor::zeros({2, 3}, DType::f64)),
                    DTypeError);
}

// float32 and bfloat16 take the vector code and the fused passes, which float64 does not.
BOOST_AUTO_TEST_CASE(gradients_in_float32_and_bfloat16_agree_with_float64) {
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const Activation activation : {Activation::none, Activation::gelu}) {
      const Tensor x = random_tensor({130, 40}, 1, -1, 1, dtype);
      const Tensor w = rounded(random_tensor({300, 40}, 2, -0.3, 0.3, dtype), DType::f32);
      const Tensor bias = random_tensor({300}, 3, -1, 1, DType::f32);
      const Tensor dy = random_tensor({130, 300}, 4, -0.2, 0.2, dtype);
      const auto gradients = [&](DType type) {
        std::vector<Tensor> leaves = {rounded(x, type), rounded(w, accumulate_dtype(type)),
                                      rounded(bias, accumulate_dtype(type))};
        for (Tensor& leaf : leaves) leaf.set_requires_grad();
        backward(linear(leaves[0], leaves[1], leaves[2], activation), rounded(dy, type));
        return std::vector<Tensor>{leaves[0].grad(), leaves[1].grad(), leaves[2].grad()};
      };
      const auto got = gradients(dtype), want = gradients(DType::f64);
      BOOST_TEST((got[0].dtype() == dtype));
      BOOST_TEST((got[1].dtype() == DType::f32));
      // In bfloat16 the gradient before the activation is rounded once: 130 terms of size 0.1.
      const Tolerance tol = tolerance(dtype, Work::product);
      for (size_t i = 0; i < 3; ++i)
        BOOST_TEST(all_close(got[i], want[i], tol), dtype << ", gradient " << i);
    }
}

// The same bits, forward and backward; and the op reads the rounded copy.
BOOST_AUTO_TEST_CASE(linear_reads_a_weight_that_is_kept_rounded) {
  const Tensor x = random_tensor({9, 24}, 1, -1, 1, DType::bf16);
  const auto run = [&](const Tensor& w) {
    Tensor own = x.clone();
    own.set_requires_grad();
    const Tensor bias = random_tensor({40}, 3, -1, 1, DType::f32);
    if (w.has_rounded()) bias.keep_rounded();
    const Tensor y = linear(own, w, bias, Activation::gelu);
    backward(y, random_tensor(y.shape(), 4, -1, 1, DType::bf16));
    return std::vector<Tensor>{y.detach(), own.grad(), w.grad()};
  };
  const auto weight = [] {
    Tensor w = random_tensor({40, 24}, 2, -1, 1, DType::f32);
    return w.set_requires_grad();
  };
  const Tensor plain = weight(), kept = weight();
  kept.keep_rounded();
  const std::vector<Tensor> want = run(plain), got = run(kept);
  for (size_t i = 0; i < want.size(); ++i) BOOST_TEST(same_bits(got[i], want[i]));
  BOOST_TEST(kept.has_rounded());
  kept.to(DType::bf16).assign(Tensor::zeros({40, 24}));
  BOOST_TEST(all_close(linear(x, kept), Tensor::zeros({9, 40}), 0.0));
  BOOST_TEST(!all_close(linear(x.to(DType::f32), kept), Tensor::zeros({9, 40}), 0.0));
}

BOOST_AUTO_TEST_CASE(only_wanted_gradients_are_computed) {
  const Tensor x = random_tensor({4, 3}, 1);
  Tensor w = random_tensor({2, 3}, 2);
  w.set_requires_grad();
  const Tensor bias = random_tensor({2}, 3);
  backward(linear(x, w, bias), Tensor::full({4, 2}, 1, DType::f64));
  BOOST_TEST(w.grad().defined());
  BOOST_TEST(!x.grad().defined());
  BOOST_TEST(!bias.grad().defined());
}

BOOST_AUTO_TEST_CASE(the_gradient_that_arrives_is_left_alone) {
  Tensor x = random_tensor({4, 3}, 1, -1, 1, DType::f32);
  x.set_requires_grad();
  const Tensor dy = random_tensor({4, 5}, 2, -1, 1, DType::f32), copy = dy.clone();
  backward(linear(x, random_tensor({5, 3}, 3, -1, 1, DType::f32), {}, Activation::gelu), dy);
  BOOST_TEST(same_bits(dy, copy));
}

BOOST_AUTO_TEST_CASE(linear_gives_the_same_bits_with_one_two_and_three_threads) {
  const int before = thread_count();
  for (const DType dtype : {DType::f32, DType::bf16}) {
    std::vector<Tensor> first;
    for (const int n : {1, 2, 3}) {
      set_thread_count(n);
      Tensor x = random_tensor({2048, 128}, 1, -1, 1, dtype);
      Tensor w = random_tensor({512, 128}, 2, -1, 1, DType::f32);
      Tensor bias = random_tensor({512}, 3, -1, 1, DType::f32);
      for (Tensor* leaf : {&x, &w, &bias}) leaf->set_requires_grad();
      const Tensor y = linear(x, w, bias, Activation::gelu);
      backward(y, random_tensor({2048, 512}, 4, -1, 1, dtype));
      const std::vector<Tensor> got = {y.detach(), x.grad(), w.grad(), bias.grad()};
      if (n == 1) first = got;
      for (size_t i = 0; i < got.size(); ++i)
        BOOST_TEST(same_bits(got[i], first[i]), n << " threads, result " << i);
    }
  }
  set_thread_count(before);
}

BOOST_AUTO_TEST_CASE(a_batch_of_no_rows_gives_no_rows) {
  const Tensor w = random_tensor({5, 3}, 1, -1, 1, DType::f32);
  const Tensor bias = random_tensor({5}, 2, -1, 1, DType::f32);
  BOOST_TEST(linear(Tensor::empty({0, 3}), w, bias, Activation::gelu).shape() == (Shape{0, 5}));
}

BOOST_AUTO_TEST_CASE(misfits_are_refused_with_both_shapes) {
  const auto zeros = [](const Shape& shape, DType dtype = DType::f32) {
    return Tensor::zeros(shape, dtype);
  };
  BOOST_CHECK_EXCEPTION(
      matmul(zeros({8, 64}), zeros({32, 16})), ShapeError,
      says("[matmul] expected equal inner dims in a[..., m, k] @ b[..., k, n], got a[8, 64] @ "
           "b[32, 16]"));
  BOOST_CHECK_EXCEPTION(matmul(zeros({2, 3, 4}), zeros({4, 4})), ShapeError,
                        says("[matmul] expected two matrices, or two stacks of them, of equal "
                             "rank, got a[2, 3, 4] @ b[4, 4]"));
  BOOST_CHECK_EXCEPTION(matmul(zeros({2, 3, 4}), zeros({5, 4, 3})), ShapeError,
                        says("[matmul] expected equal leading dims, got a[2, 3, 4] @ b[5, 4, 3]"));
  BOOST_CHECK_EXCEPTION(matmul(zeros({2, 2}), zeros({2, 2}, DType::f64)), DTypeError,
                        says("[matmul] expected one floating type, got float32 and float64"));
  BOOST_CHECK_EXCEPTION(linear(zeros({2, 3}), zeros({5, 4})), ShapeError,
                        says("[linear] expected x[..., i] and w[o, i], got x[2, 3] and w[5, 4]"));
  BOOST_CHECK_EXCEPTION(linear(zeros({2, 3}), zeros({5, 3}), zeros({3})), ShapeError,
                        says("[linear] expected bias[5], got bias[3]"));
  BOOST_CHECK_EXCEPTION(
      linear(zeros({2, 3}, DType::bf16), zeros({5, 3}, DType::bf16).set_requires_grad()),
      DTypeError,
      says("[linear] expected w in the accumulation type of x, got w in bfloat16 and x in "
           "bfloat16"));
  BOOST_CHECK_EXCEPTION(linear(zeros({2, 3}), zeros({5, 3}), zeros({5}, DType::f64)), DTypeError,
                        says("[linear] expected bias in float32, got float64"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
