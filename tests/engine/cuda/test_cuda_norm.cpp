// Layer norm on both devices: rows that a warp takes, that a block takes and that are too long to
// be kept in registers, of odd sizes and at places where 16 bytes cannot be loaded at once.

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/kernels.h"
#include "engine/ops/norm.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/view.h"
#include "tests/support/both_devices.h"
#include "tests/support/column_sums.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_cuda_norm)  // ctest: gpu sanitize:slow
namespace {

using Inputs = std::vector<Tensor>;
constexpr double kEps =
    1e-2;  // a row of one element has no variance: 1 / sqrt(eps) scales its gradient
const DType kFloats[] = {DType::f32, DType::bf16};

// Rows of every RowSize, and some beyond the end of a piece, a warp's or a block's share.
const Shape kShapes[] = {{1},       {3, 1},    {0, 5},    {2, 3, 8}, {5, 33},   {70, 64},
                         {3, 256},  {6, 257},  {9, 768},  {5, 769},  {4, 1032}, {2, 2048},
                         {3, 2049}, {2, 4100}, {1, 8192}, {2, 8193}, {3, 8200}};

Inputs inputs_of(const Shape& shape, DType dtype, double low = -1, double high = 1) {
  const Shape row{shape[-1]};
  return {random_tensor(shape, 1, low, high, dtype), random_tensor(shape, 2, low, high, dtype),
          random_tensor(row, 3, 0.5, 1.5, DType::f32), random_tensor(row, 4, -1, 1, DType::f32)};
}

BOOST_AUTO_TEST_CASE(norms_and_their_gradients_of_rows_of_every_length) {
  for (const DType dtype : kFloats)
    for (const Shape& shape : kShapes) {
      const Inputs in = inputs_of(shape, dtype);
      devices_agree(concat(dtype, ' ', shape), {in[0], in[2], in[3]}, Work::reduction,
                    [](const Inputs& x) { return layer_norm(x[0], x[1], x[2], kEps); });
    }
}

BOOST_AUTO_TEST_CASE(a_sum_and_its_norm) {
  for (const DType dtype : kFloats)
    for (const Shape& shape : kShapes) {
      const Inputs in = inputs_of(shape, dtype);
      const std::string what = concat(dtype, ' ', shape);
      devices_agree("sum " + what, in, Work::reduction, [](const Inputs& x) {
        return add_layer_norm(x[0], x[1], x[2], x[3], kEps).sum;
      });
      devices_agree("both " + what, in, Work::reduction, [](const Inputs& x) {
        const SumAndNorm y = add_layer_norm(x[0], x[1], x[2], x[3], kEps);
        return concat({y.sum, y.normed}, 0);
      });
    }
}

// The same kernels: one row of each kind.
BOOST_AUTO_TEST_CASE(rms_norms_and_layer_norms_without_a_bias) {
  for (const DType dtype : kFloats)
    for (const Shape& shape : {Shape{3, 1}, Shape{5, 33}, Shape{70, 64}, Shape{3, 257},
                               Shape{2, 2049}, Shape{2, 8193}}) {
      const Inputs in = inputs_of(shape, dtype);
      const std::string what = concat(dtype, ' ', shape);
      devices_agree("sum and rms " + what, {in[0], in[1], in[2]}, Work::reduction,
                    [](const Inputs& x) {
                      const SumAndNorm y = add_rms_norm(x[0], x[1], x[2], kEps);
                      return concat({y.sum, y.normed}, 0);
                    });
      if (shape[1] > 64) continue;
      devices_agree("rms " + what, {in[0], in[2]}, Work::reduction,
                    [](const Inputs& x) { return rms_norm(x[0], x[1], kEps); });
      devices_agree("no bias " + what, {in[0], in[2]}, Work::reduction,
                    [](const Inputs& x) { return layer_norm(x[0], x[1], {}, kEps); });
    }
}

BOOST_AUTO_TEST_CASE(the_norm_is_of_the_sum_as_it_is_stored) {
  const NoGrad no_grad;
  for (const Shape& shape : {Shape{5, 40}, Shape{3, 2051}}) {
    const Inputs in = inputs_of(shape, DType::bf16);
    Inputs there;
    for (const Tensor& x : in) there.push_back(x.to(kCuda));
    const SumAndNorm y = add_layer_norm(there[0], there[1], there[2], there[3], kEps);
    BOOST_TEST(same_bits(y.sum.to(Device{}), in[0] + in[1]));
    BOOST_TEST(
        same_bits(layer_norm(y.sum, there[2], there[3], kEps).to(Device{}), y.normed.to(Device{})));
  }
}

BOOST_AUTO_TEST_CASE(rows_that_begin_anywhere) {
  for (const DType dtype : kFloats)
    for (const int64_t d : {7, 40, 264, 1032}) {
      const Inputs in = inputs_of({6, d}, dtype);
      devices_agree(concat(dtype, ' ', d), in, Work::reduction, [d](const Inputs& x) {
        // rows of the whole, from an odd element on
        const auto part = [&](const Tensor& t) {
          return reshape(slice(reshape(t, {6 * d}), 0, 3, 3 + 4 * d), {4, d});
        };
        const SumAndNorm y = add_layer_norm(part(x[0]), part(x[1]), x[2], x[3], kEps);
        return concat({y.sum, y.normed}, 0);
      });
    }
}

// Parameters that begin at any address, with the kernel's own statistics.
BOOST_AUTO_TEST_CASE(parameters_that_begin_anywhere) {
  const NoGrad no_grad;
  for (const DType dtype : kFloats)
    for (const int64_t d : {16, 520}) {
      const Inputs in = inputs_of({3, d}, dtype);
      const Tensor longer = random_tensor({d + 1}, 5, 0.5, 1.5, DType::f32);
      const auto norm = [&](const Device& device) {
        const Tensor all = longer.to(device), part = all.view({d}, 1);
        return layer_norm(in[0].to(device), part, part, kEps).to(Device{});
      };
      BOOST_TEST(all_close(norm(kCuda), norm(Device{}), tolerance(dtype, Work::reduction)));
    }
}

void gradients_over_many_rows(const Shape& shape, DType dtype) {
  const Inputs in = inputs_of(shape, dtype);
  const auto run = [](const Inputs& x) { return layer_norm(x[0], x[2], x[3], kEps); };
  const auto want = run_on(Device{}, in, run), got = run_on(kCuda, in, run);
  // Sums of as many terms of size one as there are rows, each within 5e-6.
  const double rounding = 5e-6 * std::sqrt(static_cast<double>(shape[0]));
  const std::string what = concat(dtype, ' ', shape, ", result ");
  for (size_t i = 0; i < got.size(); ++i) {
    if (!got[i].defined()) continue;
    const bool is_summed = i >= 2;
    const Tolerance tolerance = is_summed              ? Tolerance{rounding, 5e-6}
                                : dtype == DType::bf16 ? tolerance_between(dtype, Work::reduction)
                                                       : Tolerance{5e-6, 5e-6};
    BOOST_TEST(all_close(got[i], want[i], tolerance), what << i);
  }
  const auto again = run_on(kCuda, in, run);
  for (size_t i = 0; i < got.size(); ++i)
    if (got[i].defined()) BOOST_TEST(same_bits(again[i], got[i]), what << i);
}

// More rows than blocks that work at once: each sums several.
BOOST_AUTO_TEST_CASE(gradients_of_parameters_over_many_rows) {
  for (const Shape& shape :
       {Shape{5000, 24}, Shape{1100, 260}, Shape{600, 1000}, Shape{140, 2052}, Shape{70, 8200}})
    gradients_over_many_rows(shape, DType::f32);
}

// The next row is fetched while one is computed: aligned rows, of a warp and of a block, that end
// in a missing piece.
BOOST_AUTO_TEST_CASE(gradients_of_parameters_over_many_rows_that_are_fetched_ahead) {
  for (const Shape& shape :
       {Shape{4300, 40}, Shape{2120, 264}, Shape{2120, 768}, Shape{1100, 1032}})
    gradients_over_many_rows(shape, DType::bf16);
}

BOOST_AUTO_TEST_CASE(who_expects_column_sums_of_a_gradient_gets_them) {
  std::vector<Shape> shapes(std::begin(kShapes), std::end(kShapes));
  for (const Shape& more : {Shape{2120, 768}, Shape{600, 1000}, Shape{70, 8200}})
    shapes.push_back(more);  // several rows of a block
  for (const DType dtype : kFloats)
    for (const Shape& shape : shapes)
      for (const int which : {0, 1, 2}) {  // x alone; x or the residual
        Inputs x;
        for (const Tensor& in : inputs_of(shape, dtype)) {
          x.push_back(in.to(kCuda).clone());
          x.back().set_requires_grad();
        }
        const auto dx = std::make_shared<Tensor>();
        Inputs in = x;
        Tensor& probed = in[which == 2 ? 1 : 0];
        probed = with_column_sums_expected(probed, dx);
        const Tensor y = which == 0 ? layer_norm(in[0], in[2], in[3], kEps)
                                    : add_layer_norm(in[0], in[1], in[2], in[3], kEps).normed;
        backward(y, random_tensor(shape, 6, -1, 1, dtype).to(kCuda));
        has_column_sums(*dx, concat(dtype, ' ', shape, ", input ", which));
      }
}

BOOST_AUTO_TEST_CASE(a_large_mean_does_not_cancel_the_variance) {
  const NoGrad no_grad;
  for (const int64_t d : {100, 1500, 9000}) {
    const Tensor x = random_tensor({3, d}, 1, 9999, 10001, DType::f32);
    const Tensor one = Tensor::full({d}, 1), zero = Tensor::zeros({d});
    const Tensor got = layer_norm(x.to(kCuda), one.to(kCuda), zero.to(kCuda), kEps);
    // each mean carries an error of 1e-7 of 10^4, against a deviation of 0.6
    BOOST_TEST(all_close(got.to(Device{}), layer_norm(x, one, zero, kEps), 1e-2));
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_finite_stays_in_its_row) {
  const NoGrad no_grad;
  for (const DType dtype : kFloats)
    for (const int64_t d : {9, 300, 1500, 8200})
      for (const double bad : {std::nan(""), HUGE_VAL}) {
        Tensor x = random_tensor({3, d}, 1, -1, 1, dtype);
        Tensor one_of_it = x.view({1}, 2 * d - 1);
        fill(Cpu{}, bad, one_of_it);
        const Tensor one = Tensor::full({d}, 1).to(kCuda);
        const auto y = layer_norm(x.to(kCuda), one, one, kEps).to_vector();
        for (size_t i = 0; i < y.size(); ++i) {
          const bool is_second = i / static_cast<size_t>(d) == 1;
          BOOST_REQUIRE_MESSAGE(std::isnan(y[i]) == is_second,
                                dtype << ' ' << d << ", element " << i);
        }
      }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
