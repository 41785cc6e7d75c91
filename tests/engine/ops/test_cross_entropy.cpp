#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "engine/autograd.h"
#include "engine/base/parallel.h"
#include "engine/ops/cross_entropy.h"
#include "engine/ops/view.h"
#include "tests/support/all_close.h"
#include "tests/support/grad_check.h"
#include "tests/support/on_cuda.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_cross_entropy)  // ctest: on_cuda
namespace {

struct Case {
  Tensor x, w, targets;
};
Case make_case(int64_t n, int64_t d, int64_t vocab_size, DType dtype = DType::f32) {
  return {random_tensor({n, d}, 1, -1, 1, dtype),
          rounded(random_tensor({vocab_size, d}, 2, -1, 1, dtype), accumulate_dtype(dtype)),
          random_ids({n}, 3, static_cast<int32_t>(vocab_size))};
}

// nll of each row by plain loops in float64.
std::vector<double> plain_nll(const Case& c) {
  const auto x = c.x.to_vector(), w = c.w.to_vector(), target = c.targets.to_vector();
  const auto d = static_cast<size_t>(c.x.dim(1)), v = static_cast<size_t>(c.w.dim(0));
  std::vector<double> result(target.size());
  for (size_t i = 0; i < result.size(); ++i) {
    std::vector<double> logits(v);
    for (size_t j = 0; j < v; ++j)
      for (size_t l = 0; l < d; ++l) logits[j] += x[i * d + l] * w[j * d + l];
    double sum = 0;
    for (const double logit : logits) sum += std::exp(logit);
    result[i] = std::log(sum) - logits[static_cast<size_t>(target[i])];
  }
  return result;
}

BOOST_AUTO_TEST_CASE(equal_logits_give_the_logarithm_of_the_vocabulary) {
  const Tensor loss = linear_cross_entropy(Tensor::zeros({3, 2}), Tensor::full({8, 2}, 1),
                                           Tensor::from(std::vector<int32_t>{0, 3, 7}, {3}));
  BOOST_TEST(loss.shape() == Shape{});
  BOOST_TEST(std::abs(loss.item() - std::log(8.0)) < 1e-6);
}

BOOST_AUTO_TEST_CASE(nll_agrees_with_plain_loops_in_every_type_and_over_chunks) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64})
    for (const Shape& size : {Shape{1, 1, 1}, Shape{7, 5, 33}, Shape{1100, 8, 2500}}) {
      const Case c = make_case(size[0], size[1], size[2], dtype);
      const auto want = plain_nll(c);
      double mean = 0;
      for (const double value : want) mean += value / static_cast<double>(want.size());
      const Tensor nll = linear_nll(c.x, c.w, c.targets);
      const Tolerance tol = tolerance(accumulate_dtype(dtype), Work::product);
      BOOST_TEST((nll.dtype() == accumulate_dtype(dtype)));
      BOOST_TEST(all_close(nll.to_vector(), want, tol), dtype << ", size " << size);
      BOOST_TEST(all_close(linear_cross_entropy(c.x, c.w, c.targets).to_vector(), {&mean, 1}, tol));
    }
}

BOOST_AUTO_TEST_CASE(gradients_agree_with_differences) {
  const Case c = make_case(9, 4, 21, DType::f64);
  BOOST_TEST(gradients_agree(
      [&](const std::vector<Tensor>& in) { return linear_cross_entropy(in[0], in[1], c.targets); },
      {c.x, c.w}));
}

// Several chunks of tokens, each adding to dw; float32 and bfloat16 take the vector code.
BOOST_AUTO_TEST_CASE(gradients_in_float32_and_bfloat16_agree_with_float64) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Case c = make_case(1100, 24, 2400, dtype);
    const auto gradients = [&](DType type) {
      Tensor x = rounded(c.x, type), w = rounded(c.w, accumulate_dtype(type));
      x.set_requires_grad();
      w.set_requires_grad();
      const Tensor loss = linear_cross_entropy(x, w, c.targets);
      // A gradient of one token is of size 1/1100: this brings it to size one.
      backward(loss, Tensor::full({}, 1100, accumulate_dtype(type)));
      return std::vector<Tensor>{x.grad(), w.grad()};
    };
    const auto got = gradients(dtype), want = gradients(DType::f64);
    for (size_t i = 0; i < 2; ++i)
      BOOST_TEST(all_close(got[i], want[i], tolerance(dtype, Work::product)),
                 dtype << ", gradient " << i);
  }
}

// Rounded logits move a nll by some 2^-9 of the largest, which is below 8 here, and a probability
// by as much of itself; chunks of rows are longer then.
BOOST_AUTO_TEST_CASE(rounded_logits_cost_what_their_rounding_does) {
  const Case c = make_case(1100, 24, 2400, DType::bf16);
  const auto results = [&](DType type, std::optional<DType> logits) {
    Tensor x = rounded(c.x, type), w = rounded(c.w, accumulate_dtype(type));
    x.set_requires_grad();
    w.set_requires_grad();
    const Tensor loss = linear_cross_entropy(x, w, c.targets, logits);
    backward(loss, Tensor::full({}, 1100, accumulate_dtype(type)));
    return std::vector<Tensor>{reshape(loss.detach(), {1}), x.grad(), w.grad()};
  };
  const auto got = results(DType::bf16, DType::bf16), exact = results(DType::f64, {});
  const auto unrounded = results(DType::bf16, {});
  BOOST_TEST(std::abs(got[0].item() - exact[0].item()) < 2e-3);
  BOOST_TEST(got[0].item() != unrounded[0].item());
  for (size_t i = 1; i < 3; ++i) {
    const auto a = got[i].to_vector(), b = exact[i].to_vector();
    double error = 0, size = 0;
    for (size_t j = 0; j < a.size(); ++j) {
      error += (a[j] - b[j]) * (a[j] - b[j]);
      size += b[j] * b[j];
    }
    BOOST_TEST(std::sqrt(error / size) < 0.01, "gradient " << i);
  }
  // What is asked for as the default is the default.
  BOOST_TEST(same_bits(results(DType::bf16, DType::f32)[2], unrounded[2]));
  BOOST_TEST(cross_entropy_chunk(1 << 16, 50'304, Device::Kind::cuda, DType::bf16) == 8192);
  BOOST_TEST(cross_entropy_chunk(1 << 16, 50'304, Device::Kind::cuda) == 2048);
}

BOOST_AUTO_TEST_CASE(logits_are_in_the_type_of_w_or_rounded) {
  const Case wide = make_case(4, 3, 6), narrow = make_case(4, 3, 6, DType::bf16);
  BOOST_CHECK_EXCEPTION(linear_cross_entropy(wide.x, wide.w, wide.targets, DType::bf16), DTypeError,
                        says("[cross_entropy] expected logits in float32, got bfloat16"));
  BOOST_CHECK_EXCEPTION(
      linear_cross_entropy(narrow.x, narrow.w, narrow.targets, DType::f64), DTypeError,
      says("[cross_entropy] expected logits in float32 or bfloat16, got float64"));
}

// The same bits, forward and backward; and the op reads the rounded copy.
BOOST_AUTO_TEST_CASE(a_weight_that_is_kept_rounded_is_read) {
  const Case c = make_case(1100, 8, 2500, DType::bf16);
  const auto weight = [] {
    Tensor w = random_tensor({2500, 8}, 2, -1, 1, DType::f32);
    return w.set_requires_grad();
  };
  const auto run = [&](const Tensor& w) {
    Tensor x = c.x.clone();
    x.set_requires_grad();
    const Tensor loss = linear_cross_entropy(x, w, c.targets);
    backward(loss);
    return std::vector<Tensor>{loss.detach(), x.grad(), w.grad(), linear_nll(c.x, w, c.targets)};
  };
  const Tensor plain = weight(), kept = weight();
  kept.keep_rounded();
  const std::vector<Tensor> want = run(plain), got = run(kept);
  for (size_t i = 0; i < want.size(); ++i) BOOST_TEST(same_bits(got[i], want[i]));
  BOOST_TEST(kept.has_rounded());
  kept.to(DType::bf16).assign(Tensor::zeros({2500, 8}));
  BOOST_TEST(linear_cross_entropy(c.x, kept, c.targets).item() == std::log(2500.0),
             boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(only_wanted_gradients_are_computed) {
  Case c = make_case(4, 3, 6);
  c.w.set_requires_grad();
  backward(linear_cross_entropy(c.x, c.w, c.targets));
  BOOST_TEST(c.w.grad().defined());
  BOOST_TEST(!c.x.grad().defined());
}

BOOST_AUTO_TEST_CASE(large_logits_do_not_overflow) {
  const Tensor x = Tensor::from({200}, {1, 1}), w = Tensor::from({1, -1, 0.5}, {3, 1});
  const auto nll = [&](int32_t target) {
    return linear_nll(x, w, Tensor::from(std::vector<int32_t>{target}, {1})).item();
  };
  BOOST_TEST(nll(0) == 0);
  BOOST_TEST(nll(1) == 400);
}

BOOST_AUTO_TEST_CASE(logits_that_are_not_finite_reach_the_loss) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    for (const int64_t at : {0, 5, 39}) {
      Case c = make_case(5, 1, 40);
      for (int64_t i = 0; i < 5; ++i) c.x.data<float>()[i] = 1;
      c.w.data<float>()[at] = static_cast<float>(bad);
      const auto nll = linear_nll(c.x, c.w, c.targets).to_vector();
      for (const double value : nll) BOOST_TEST(!std::isfinite(value));
      BOOST_TEST(!std::isfinite(linear_cross_entropy(c.x, c.w, c.targets).item()));
    }
}

BOOST_AUTO_TEST_CASE(results_are_the_same_bits_with_one_two_and_three_threads) {
  const int before = thread_count();
  std::vector<Tensor> first;
  for (const int n : {1, 2, 3}) {
    set_thread_count(n);
    Case c = make_case(1500, 64, 3000);
    c.x.set_requires_grad();
    c.w.set_requires_grad();
    const Tensor loss = linear_cross_entropy(c.x, c.w, c.targets);
    backward(loss);
    const std::vector<Tensor> got = {loss.detach(), c.x.grad(), c.w.grad()};
    if (n == 1) first = got;
    for (size_t i = 0; i < got.size(); ++i)
      BOOST_TEST(same_bits(got[i], first[i]), n << " threads, result " << i);
  }
  set_thread_count(before);
}

BOOST_AUTO_TEST_CASE(misfits_and_targets_outside_the_vocabulary_are_refused) {
  const Tensor x = Tensor::zeros({2, 3}), w = Tensor::zeros({5, 3});
  const auto ids = [](std::vector<int32_t> values) {
    return Tensor::from(values, {static_cast<int64_t>(values.size())});
  };
  for (const int32_t bad : {5, -1}) {
    if (test::is_on_cuda()) {
      BOOST_TEST(std::isnan(linear_nll(x, w, ids({0, bad})).to_vector()[1]));
      continue;
    }
    BOOST_CHECK_EXCEPTION(linear_nll(x, w, ids({0, bad})), ShapeError,
                          says(concat("[cross_entropy] expected targets from 0 to 4, got ", bad)));
  }
  BOOST_CHECK_EXCEPTION(
      linear_nll(x, Tensor::zeros({5, 4}), ids({0, 1})), ShapeError,
      says("[cross_entropy] expected x[n, d] and w[v, d], got x[2, 3] and w[5, 4]"));
  BOOST_CHECK_EXCEPTION(
      linear_nll(x, w, ids({0})), ShapeError,
      says("[cross_entropy] expected one target for each row of x[2, 3], got targets[1]"));
  BOOST_CHECK_EXCEPTION(linear_nll(x, w, Tensor::zeros({2})), DTypeError,
                        says("[cross_entropy] expected int32 targets, got float32"));
  BOOST_CHECK_EXCEPTION(
      linear_cross_entropy(x, Tensor::zeros({5, 3}, DType::f64), ids({0, 1})), DTypeError,
      says("[cross_entropy] expected w in the accumulation type of x, got w in float64 and x in "
           "float32"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
