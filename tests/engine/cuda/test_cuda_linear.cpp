// y = f(x w^T + bias) and the way back on both devices.

#include <boost/test/unit_test.hpp>

#include "engine/kernels/functors.h"
#include "engine/kernels/pointwise.h"
#include "tests/engine/cuda/linear_case.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_cuda_linear)  // ctest: gpu
namespace {

BOOST_AUTO_TEST_CASE(linear_and_its_gradients_agree) {
  const LinearSizes all[] = {{{5}, 7, 3},   {{1}, 1, 1},     {{2, 33}, 16, 40}, {{70}, 9, 300},
                             {{0}, 4, 5},   {{4}, 5, 0},     {{}, 6, 8},        {{130}, 8, 264},
                             {{32}, 24, 8}, {{33}, 24, 256}, {{40}, 7, 1}};
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const Activation activation : {Activation::none, Activation::gelu})
      for (const bool has_bias : {false, true})
        for (const LinearSizes& sizes : all) linear_agrees(sizes, dtype, has_bias, activation);
}

BOOST_AUTO_TEST_CASE(a_bias_of_more_bits_is_rounded_like_a_weight) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Tensor x = Tensor::zeros({1, 2}, dtype, kCuda),
                 w = Tensor::zeros({3, 2}, DType::f32, kCuda);
    const Tensor bias = Tensor::from({1.0 / 3, 1 + 0x1p-9, -5e-5}, {3}, DType::f32);
    BOOST_TEST(
        same_bits(linear(x, w, bias.to(kCuda)).view({3}).to(Device{}), rounded(bias, dtype)));
  }
}

BOOST_AUTO_TEST_CASE(sums_that_come_with_a_gradient_are_that_of_the_bias) {
  const Tensor x = Tensor::zeros({3, 2}, DType::bf16, kCuda),
               w = Tensor::zeros({4, 2}, DType::f32, kCuda);
  const Tensor sums = Tensor::from({1, 2, 3, 4}, {4}).to(kCuda);
  const auto bias_gradient = [&](Activation activation) {
    Tensor bias = Tensor::zeros({4}, DType::f32, kCuda);
    bias.set_requires_grad();
    const Tensor dy = Tensor::full({3, 4}, 2, DType::bf16, kCuda);
    dy.keep_column_sums(sums);  // others than they are, to tell them apart
    const Tensor y = linear(x, w, bias, activation);
    BOOST_TEST(expects_column_sums(y) == (activation == Activation::none));
    backward(y, dy);
    return bias.grad().to_vector();
  };
  BOOST_TEST(bias_gradient(Activation::none) == sums.to_vector());
  BOOST_TEST(bias_gradient(Activation::gelu) == std::vector<double>(4, 3));  // 6 gelu'(0)
  BOOST_TEST(!expects_column_sums(linear(x, w.clone().set_requires_grad())));
}

BOOST_AUTO_TEST_CASE(a_bias_on_another_device_is_refused) {
  BOOST_CHECK_EXCEPTION(linear(Tensor::zeros({1, 2}, DType::f32, kCuda),
                               Tensor::zeros({3, 2}, DType::f32, kCuda), Tensor::zeros({3})),
                        DeviceError,
                        says_exactly("[linear] expected bias on cuda:0 like x, got it on cpu"));
}

// What the way back needs of u = x w^T + bias (linear_forward()).
Tensor kept_of(const Tensor& u, const Device& device) {
  if (device.kind != Device::Kind::cpu || u.dtype() == DType::bf16) return u;
  Tensor slopes = empty_like(u);
  unary_backward(Cpu{}, unary_op<Gelu>, u, u, Tensor::full(u.shape(), 1, u.dtype()), slopes);
  return slopes;
}

// The kernel itself: what the op never asks for, in place over dy and over what is kept.
BOOST_AUTO_TEST_CASE(the_way_back_through_the_activation_agrees) {
  enum class To { own, dy, kept };
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const Shape& shape : {Shape{1, 1}, Shape{3, 37}, Shape{65, 8}, Shape{100, 136},
                               Shape{2300, 3}, Shape{0, 4}, Shape{4, 0}, Shape{2, 5, 16}})
      for (const Activation activation : {Activation::none, Activation::gelu})
        for (const To to : {To::own, To::dy, To::kept})
          for (const bool wants_bias : {false, true})
            for (const int64_t offset : {0, 3}) {
              const auto results = [&](const Device& device) {
                const auto input = [&](uint64_t seed) {
                  return random_tensor({shape.numel() + offset}, seed, -2, 2, dtype)
                      .to(device)
                      .clone()
                      .view(shape, offset);
                };
                Tensor kept = kept_of(input(4), device), dy = input(5);
                Tensor du = to == To::own ? empty_like(kept) : to == To::dy ? dy : kept;
                Tensor dbias;
                if (wants_bias) dbias = Tensor::full({shape[-1]}, 7, DType::f32, device);
                dispatch(device, [&](auto tag) {
                  linear_activation_backward(tag, kept, dy, activation, du, dbias);
                });
                Inputs out;
                if (activation != Activation::none) out.push_back(du.to(Device{}));
                if (wants_bias) out.push_back(dbias.to(Device{}));
                return out;
              };
              const Inputs got = results(kCuda), want = results(Device{});
              for (size_t i = 0; i < want.size(); ++i) {
                // Sums of thousands of roundings to bfloat16 that go the other way now and then.
                Tolerance tol = tolerance(want[i].dtype(), Work::reduction);
                if (dtype == DType::bf16 && want[i].dtype() == DType::f32) tol = Tolerance(2e-2);
                if (dtype == DType::f32) tol = tolerance(DType::f32, Work::product);
                const auto close = all_close(got[i], want[i], tol);
                BOOST_CHECK_MESSAGE(
                    close, dtype << ' ' << shape << " output " << i << ": " << close.message());
              }
            }
}

BOOST_AUTO_TEST_CASE(repeated_sums_have_the_same_bits) {
  const Tensor dy = random_tensor({999, 77}, 6, -1, 1, DType::bf16).to(kCuda);
  const auto sums = [&] {
    Tensor du, dbias = Tensor::empty({77}, DType::f32, kCuda);
    linear_activation_backward(cuda_tag(kCuda), {}, dy, Activation::none, du, dbias);
    return dbias.to(Device{});
  };
  BOOST_TEST(same_bits(sums(), sums()));
}

BOOST_AUTO_TEST_CASE(gradients_of_weight_and_bias_agree) {
  const WeightGradientCase all[] = {{1, 1, 1},  {1, 3, 2},      {7, 5, 3},       {33, 16, 40},
                                    {64, 8, 1}, {300, 9, 70},   {1000, 24, 64},  {0, 4, 5},
                                    {4, 5, 0},  {70, 9, 33, 1}, {96, 16, 24, 2}, {40, 32, 8, 4}};
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const WeightGradientCase& one : all)
      for (const bool wants_dw : {false, true})
        for (const bool wants_dbias : {false, true})
          weight_gradients_agree(one, dtype, wants_dw, wants_dbias);
}

// Long sums of few results, as for products.
BOOST_AUTO_TEST_CASE(repeated_gradients_of_weight_and_bias_have_the_same_bits) {
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const WeightGradientCase& one : {WeightGradientCase{4000, 16, 24}, {2048, 48, 64}}) {
      const Inputs first = weight_gradients(kCuda, one, dtype);
      for (int repeat = 0; repeat < 3; ++repeat) {
        const Inputs again = weight_gradients(kCuda, one, dtype);
        BOOST_TEST(same_bits(again[0], first[0]));
        BOOST_TEST(same_bits(again[1], first[1]));
      }
    }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
