// Softmax and cross entropy on both devices: rows that a warp takes, that a block takes and that
// are too long to be kept in registers, of odd sizes and at places where 16 bytes cannot be loaded
// at once.

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/kernels.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/softmax.h"
#include "engine/ops/view.h"
#include "tests/support/both_devices.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_cuda_softmax)  // ctest: gpu sanitize:slow
namespace {

using Inputs = std::vector<Tensor>;
const DType kFloats[] = {DType::f32, DType::bf16};
const double kNan = std::nan("");

// Rows of every RowSize, and some beyond the end of a piece, a warp's or a block's share.
const Shape kShapes[] = {{1},       {5, 1},    {0, 3},    {3, 0},    {2, 3, 8}, {7, 33},
                         {70, 64},  {5, 257},  {6, 768},  {3, 769},  {2, 2048}, {3, 2049},
                         {2, 8192}, {1, 8193}, {2, 8200}, {1, 20001}};

BOOST_AUTO_TEST_CASE(rows_of_every_length) {
  for (const DType dtype : kFloats)
    for (const Shape& shape : kShapes) {
      const Inputs in{random_tensor(shape, 1, -5, 5, dtype)};
      const std::string what = concat(dtype, ' ', shape);
      devices_agree("softmax " + what, in, Work::reduction,
                    [](const Inputs& x) { return softmax(x[0]); });
      devices_agree("log softmax " + what, in, Work::reduction,
                    [](const Inputs& x) { return log_softmax(x[0]); });
    }
}

BOOST_AUTO_TEST_CASE(a_hundred_thousand_elements) {
  const NoGrad no_grad;
  for (const DType dtype : kFloats) {
    const Tensor x = random_tensor({1, 100001}, 1, -9, 9, dtype);
    BOOST_TEST(all_close(log_softmax(x.to(kCuda)).to(Device{}), log_softmax(x),
                         tolerance_between(dtype, Work::reduction)));
  }
}

BOOST_AUTO_TEST_CASE(rows_that_begin_anywhere) {
  for (const DType dtype : kFloats)
    for (const int64_t n : {7, 40, 1032, 8200}) {
      const Inputs in{random_tensor({3 * n}, 1, -5, 5, dtype)};
      for (const auto op : {softmax, log_softmax})
        devices_agree(concat(dtype, ' ', n), in, Work::reduction, [&](const Inputs& x) {
          return op(reshape(slice(x[0], 0, 3, 3 + 2 * n), {2, n}));
        });
    }
}

// Equal, or both NaN, in every element.
void expect_same(const std::string& what, const std::vector<double>& got,
                 const std::vector<double>& want, const Tolerance& tol) {
  BOOST_REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const bool is_same =
        got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i])) ||
        std::abs(got[i] - want[i]) <= tol.absolute + tol.relative * std::abs(want[i]);
    BOOST_REQUIRE_MESSAGE(is_same,
                          what << ", element " << i << ": got " << got[i] << ", want " << want[i]);
  }
}

// What a row may hold, at its beginning, in its middle and at its end.
std::vector<std::pair<std::string, std::vector<double>>> special_rows(size_t n) {
  std::vector<double> plain(n), masked(n, -HUGE_VAL), large(n, 1e4), small(n, -3e38);
  for (size_t i = 0; i < n; ++i) plain[i] = static_cast<double>(i % 7) - 3;
  std::vector<std::pair<std::string, std::vector<double>>> rows{
      {"masked", masked}, {"large", large}, {"small", small}};
  for (const size_t at : {size_t{0}, n / 2, n - 1}) {
    for (const double value : {kNan, HUGE_VAL, -HUGE_VAL, 3e38}) {
      rows.emplace_back(concat(value, " at ", at), plain);
      rows.back().second[at] = value;
    }
    rows.emplace_back(concat("all masked but ", at), masked);
    rows.back().second[at] = 2;
  }
  return rows;
}

BOOST_AUTO_TEST_CASE(masked_and_other_special_elements) {
  const NoGrad no_grad;
  for (const DType dtype : kFloats)
    for (const int64_t n : {1, 9, 700, 1500, 8201})
      for (const auto& [name, values] : special_rows(static_cast<size_t>(n)))
        for (const auto op : {softmax, log_softmax}) {
          const Tensor x = Tensor::from(values, {1, n}, dtype);
          expect_same(concat(name, " of ", n, ' ', dtype), op(x.to(kCuda)).to_vector(),
                      op(x).to_vector(), tolerance_between(dtype, Work::reduction));
        }
}

// What cross_entropy_rows() makes of logits on a device.
struct Rows {
  Tensor nll, dlogits;
};
enum class Gradient { none, apart, in_place };
Rows cross_entropy(const Device& device, const Tensor& logits, const Tensor& targets, double scale,
                   Gradient gradient, DType gradient_dtype) {
  const NoGrad no_grad;
  Tensor there = logits.clone().to(device);
  Tensor nll = Tensor::empty({logits.dim(0)}, DType::f32, device);
  Tensor dlogits = gradient == Gradient::none ? Tensor()
                   : gradient == Gradient::apart
                       ? Tensor::empty(logits.shape(), gradient_dtype, device)
                       : there;
  dispatch(device, [&](auto tag) {
    cross_entropy_rows(tag, there, targets.to(device), scale, nll, dlogits);
  });
  return {nll.to(Device{}), dlogits.defined() ? dlogits.to(Device{}) : Tensor()};
}

BOOST_AUTO_TEST_CASE(cross_entropy_of_rows_of_every_length) {
  for (const Shape& shape : kShapes) {
    if (shape.rank() != 2 || shape[1] == 0) continue;
    const Tensor targets = random_ids({shape[0]}, 3, static_cast<int32_t>(shape[1]));
    const Tensor logits = random_tensor(shape, 1, -5, 5, DType::f32);
    const auto run = [&](const Device& device, Gradient gradient, DType dtype) {
      return cross_entropy(device, logits, targets, 0.7, gradient, dtype);
    };
    for (const DType dtype : kFloats) {
      const Rows want = run(Device{}, Gradient::apart, dtype);
      const Rows got = run(kCuda, Gradient::apart, dtype);
      BOOST_TEST(all_close(got.nll, want.nll, tolerance_between(DType::f32, Work::reduction)));
      BOOST_TEST(all_close(got.dlogits, want.dlogits, tolerance_between(dtype, Work::reduction)),
                 shape << ' ' << dtype);
    }
    const Rows apart = run(kCuda, Gradient::apart, DType::f32);
    const Rows in_place = run(kCuda, Gradient::in_place, DType::f32);
    BOOST_TEST(same_bits(in_place.nll, apart.nll));
    BOOST_TEST(same_bits(in_place.dlogits, apart.dlogits), shape);
    BOOST_TEST(same_bits(run(kCuda, Gradient::none, DType::f32).nll, apart.nll));
  }
}

// The CPU takes logits in float32 alone.
BOOST_AUTO_TEST_CASE(logits_in_bfloat16) {
  for (const int64_t n : {5, 64, 777, 8192, 8200}) {
    const Tensor targets = random_ids({4}, 3, static_cast<int32_t>(n));
    const Tensor logits = random_tensor({4, n}, 1, -5, 5, DType::bf16);
    const Rows want = cross_entropy(Device{}, rounded(logits, DType::f32), targets, 0.7,
                                    Gradient::apart, DType::bf16);
    for (const Gradient gradient : {Gradient::apart, Gradient::in_place}) {
      const Rows got = cross_entropy(kCuda, logits, targets, 0.7, gradient, DType::bf16);
      BOOST_TEST(all_close(got.nll, want.nll, tolerance_between(DType::f32, Work::reduction)));
      BOOST_TEST(
          all_close(got.dlogits, want.dlogits, tolerance_between(DType::bf16, Work::reduction)));
    }
  }
}

BOOST_AUTO_TEST_CASE(special_logits) {
  for (const int64_t n : {9, 1500, 8201})
    for (const auto& [name, values] : special_rows(static_cast<size_t>(n))) {
      const Tensor logits = Tensor::from(values, {1, n}, DType::f32);
      for (const int32_t target : {0, static_cast<int32_t>(n) - 1}) {
        const Tensor targets = Tensor::from(std::vector<int32_t>{target}, {1});
        const auto run = [&](const Device& device) {
          return cross_entropy(device, logits, targets, 0.7, Gradient::apart, DType::f32);
        };
        const Rows want = run(Device{}), got = run(kCuda);
        const std::string what = concat(name, " of ", n, ", target ", target);
        const Tolerance tol = tolerance_between(DType::f32, Work::reduction);
        expect_same("nll of " + what, got.nll.to_vector(), want.nll.to_vector(), tol);
        expect_same("gradient of " + what, got.dlogits.to_vector(), want.dlogits.to_vector(), tol);
      }
    }
}

BOOST_AUTO_TEST_CASE(a_target_outside_of_the_row_is_not_a_number) {
  const Tensor logits = random_tensor({3, 40}, 1, -1, 1, DType::f32);
  const Tensor targets = Tensor::from(std::vector<int32_t>{40, 7, -1}, {3});
  const auto nll =
      cross_entropy(kCuda, logits, targets, 1, Gradient::apart, DType::f32).nll.to_vector();
  BOOST_TEST(std::isnan(nll[0]));
  BOOST_TEST(std::isfinite(nll[1]));
  BOOST_TEST(std::isnan(nll[2]));
}

BOOST_AUTO_TEST_CASE(the_mean_of_rows_is_summed_in_float64) {
  for (const int64_t n : {1, 5, 1024, 40000}) {
    const Tensor nll = random_tensor({n}, 5, 0, 12, DType::f32);
    Tensor want = Tensor::empty({}), got = Tensor::empty({}, DType::f32, kCuda);
    mean_nll(Cpu{}, nll, want);
    mean_nll(cuda_tag(kCuda), nll.to(kCuda), got);
    BOOST_TEST(same_bits(got.to(Device{}), want), n);
  }
}

BOOST_AUTO_TEST_CASE(gradients_are_scaled_by_a_number_on_the_device) {
  for (const DType dtype : kFloats)
    for (const double factor : {1.0, 0.3, -2.0, kNan})
      for (const int64_t n : {0, 1, 37, 4096}) {
        const auto run = [&](const Device& device) {
          Tensor x = random_tensor({n}, 6, -1, 1, dtype).to(device);
          const Tensor by = Tensor::full({}, factor, DType::f32, device);
          dispatch(device, [&](auto tag) { scale_in_place(tag, by, x); });
          return x.to(Device{});
        };
        expect_same(concat(dtype, " by ", factor), run(kCuda).to_vector(),
                    run(Device{}).to_vector(), 0);
      }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
