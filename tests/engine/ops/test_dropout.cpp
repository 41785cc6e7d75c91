#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "engine/autograd.h"
#include "engine/base/parallel.h"
#include "engine/ops/dropout.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/view.h"
#include "tests/support/all_close.h"
#include "tests/support/dropout_reference.h"
#include "tests/support/grad_check.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_dropout)  // ctest: on_cuda
namespace {

const Random kRandom{7, 0x123456789abcdef0};
const DType kFloats[] = {DType::f64, DType::f32, DType::bf16};

// Sizes around groups of 8, blocks of 512 and chunks of 32768 elements.
BOOST_AUTO_TEST_CASE(each_element_is_dropped_or_scaled_by_bits_of_its_own) {
  for (const DType dtype : kFloats)
    for (const int64_t n : {0, 1, 7, 8, 9, 511, 513, 32768, 70001})
      for (const double p : {0.1, 0.5}) {
        const Tensor x = random_tensor({n}, 1, 1, 2, dtype);
        const std::vector<double> in = x.to_vector();
        const std::vector<bool> kept = test::kept_by_dropout(n, p, kRandom);
        const double rounded_p = std::floor(p * 65536 + 0.5) / 65536;
        std::vector<double> want;
        for (size_t i = 0; i < in.size(); ++i)
          want.push_back(kept[i] ? in[i] / (1 - rounded_p) : 0);
        BOOST_TEST(
            all_close(dropout(x, p, kRandom).to_vector(), want, tolerance(dtype, Work::pointwise)),
            dtype << ' ' << n << ' ' << p);
      }
}

BOOST_AUTO_TEST_CASE(gradients_agree_with_differences) {
  for (const Shape& shape : {Shape{0}, Shape{1}, Shape{3, 7}, Shape{2, 5, 13}})
    BOOST_TEST(
        gradients_agree([](const std::vector<Tensor>& in) { return dropout(in[0], 0.4, kRandom); },
                        {random_tensor(shape, 1)}));
}

BOOST_AUTO_TEST_CASE(the_gradient_is_dropped_and_scaled_by_the_same_mask) {
  for (const DType dtype : kFloats) {
    const Tensor dy = random_tensor({3, 1001}, 1, -1, 1, dtype);
    Tensor x = random_tensor({3, 1001}, 2, -1, 1, dtype);
    x.set_requires_grad();
    backward(dropout(x, 0.3, kRandom), dy);
    BOOST_TEST(same_bits(x.grad(), dropout(dy, 0.3, kRandom)));
  }
}

BOOST_AUTO_TEST_CASE(the_share_is_p_and_neighbours_streams_and_seeds_are_independent) {
  const int64_t n = int64_t{1} << 20;
  const Tensor ones = Tensor::full({n}, 1, DType::f32);
  const auto dropped = [&](double p, const Random& random) {
    return dropout(ones, p, random).to_vector();
  };
  // Within five standard deviations of what independent elements give.
  const auto check = [&](const char* what, double share, double expected) {
    const double deviation = std::sqrt(expected * (1 - expected) / static_cast<double>(n));
    BOOST_TEST(std::abs(share - expected) < 5 * deviation,
               what << ": " << share << ", expected " << expected);
  };
  const auto both = [&](const std::vector<double>& a, const std::vector<double>& b, int64_t lag) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; ++i)
      count += a[static_cast<size_t>(i)] == 0 && b[static_cast<size_t>((i + lag) % n)] == 0;
    return static_cast<double>(count) / static_cast<double>(n);
  };
  for (const double p : {0.01, 0.1, 0.5, 0.9}) {
    const auto a = dropped(p, {1, 2});
    check("share", both(a, a, 0), p);
    for (const int64_t lag : {1, 2, 4, 8, 16, 512, 768}) check("lag", both(a, a, lag), p * p);
    check("stream", both(a, dropped(p, {1, 3}), 0), p * p);
    check("seed", both(a, dropped(p, {2, 2}), 0), p * p);
  }
}

BOOST_AUTO_TEST_CASE(columns_have_the_mask_that_they_have_in_the_whole) {
  for (const DType dtype : kFloats)
    for (const int64_t width : {1, 7, 12, 40, 77}) {
      const Tensor whole = random_tensor({2, 9, width}, 1, 1, 2, dtype);
      const Tensor want = dropout(whole, 0.3, kRandom, 16);
      for (const auto& [begin, end] : std::vector<std::pair<int64_t, int64_t>>{
               {0, width}, {0, width / 2}, {width / 3, width}, {width / 2, width / 2}}) {
        Tensor part = slice(whole, 2, begin, end);
        part.set_requires_grad();
        const Tensor y = dropout(part, 0.3, kRandom, 16, {begin, width});
        BOOST_TEST(same_bits(y, slice(want, 2, begin, end)), dtype << ' ' << begin << ' ' << end);
        backward(y, part.detach());  // y is linear in x
        BOOST_TEST(same_bits(part.grad(), y));
      }
    }
  BOOST_CHECK_EXCEPTION(
      dropout(Tensor::zeros({2, 3}), 0.3, kRandom, 0, {2, 4}), ShapeError,
      says_exactly("[dropout] expected columns of 4, got [2, 3] from column 2 on"));
}

BOOST_AUTO_TEST_CASE(with_p_zero_it_is_the_tensor_itself) {
  for (const double p : {0.0, -0.0, 1e-6}) {  // the last is rounded to 0
    Tensor x = random_tensor({5}, 1);
    x.set_requires_grad();
    const Tensor y = dropout(x, p, kRandom);
    BOOST_TEST(y.raw_data() == x.raw_data());
    BOOST_TEST(y.requires_grad());  // the leaf, nothing is recorded
  }
}

BOOST_AUTO_TEST_CASE(with_p_near_one_something_is_left) {
  const std::vector<double> y =
      dropout(Tensor::full({1 << 20}, 1, DType::f64), 1 - 1e-9, kRandom).to_vector();
  const auto n_kept = std::count(y.begin(), y.end(), 65536.0);  // 16 are expected
  BOOST_TEST(n_kept > 0);
  BOOST_TEST(n_kept < 40);
  BOOST_TEST(std::count(y.begin(), y.end(), 0.0) == (1 << 20) - n_kept);
}

BOOST_AUTO_TEST_CASE(what_is_not_finite_is_dropped_too) {
  for (const DType dtype : kFloats)
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
      const std::vector<double> y =
          dropout(Tensor::full({100}, bad, dtype), 0.5, kRandom).to_vector();
      const std::vector<bool> kept = test::kept_by_dropout(100, 0.5, kRandom);
      for (size_t i = 0; i < 100; ++i) BOOST_TEST((y[i] == 0) == !kept[i]);
    }
}

BOOST_AUTO_TEST_CASE(the_number_of_threads_changes_no_bit) {
  const Tensor x = random_tensor({200003}, 1, -1, 1, DType::f32);
  std::vector<Tensor> results;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    results.push_back(dropout(x, 0.2, kRandom));
  }
  set_thread_count(1);
  BOOST_TEST(same_bits(results[1], results[0]));
  BOOST_TEST(same_bits(results[2], results[0]));
}

BOOST_AUTO_TEST_CASE(what_makes_no_sense_is_refused) {
  for (const double p : {1.0, -0.1, 1.5, std::nan("")})
    BOOST_TEST(message_of<ConfigError>([&] { dropout(Tensor::zeros({3}), p, kRandom); }) ==
               concat("[dropout] expected a share of elements from 0 to below 1, got ", p));
  BOOST_TEST(message_of<DTypeError>([] { dropout(random_ids({3}, 1, 5), 0.5, kRandom); }) ==
             "[dropout] expected a floating type, got int32");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
