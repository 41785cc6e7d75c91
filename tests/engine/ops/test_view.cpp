#include <boost/test/unit_test.hpp>
#include <numeric>

#include "engine/ops/pointwise.h"
#include "engine/ops/view.h"
#include "tests/support/all_close.h"
#include "tests/support/grad_check.h"
#include "tests/support/random_tensor.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_view)  // ctest: on_cuda
namespace {

// 0, 1, 2, ... in a shape.
Tensor counting(const Shape& shape, DType dtype) {
  std::vector<double> values(static_cast<size_t>(shape.numel()));
  std::iota(values.begin(), values.end(), 0.0);
  return Tensor::from(values, shape, dtype);
}
const DType kAll[] = {DType::f64, DType::f32, DType::bf16, DType::i32};

BOOST_AUTO_TEST_CASE(a_reshape_shares_storage) {
  const Tensor x = counting({2, 3}, DType::f32);
  const Tensor y = reshape(x, {3, 2});
  BOOST_TEST(y.raw_data() == x.raw_data());
  BOOST_TEST(all_close(y, counting({3, 2}, DType::f32), 0));
}

BOOST_AUTO_TEST_CASE(permute_moves_every_element_to_its_place) {
  for (const DType dtype : kAll) {
    const Tensor x = counting({2, 3, 4, 5}, dtype);
    for (const std::vector<int>& order :
         {std::vector<int>{0, 1, 2, 3}, {3, 2, 1, 0}, {0, 2, 1, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}}) {
      const Tensor y = permute(x, order);
      const auto values = y.to_vector();
      int64_t i = 0;
      std::vector<int64_t> at(4);
      for (at[0] = 0; at[0] < y.dim(0); ++at[0])
        for (at[1] = 0; at[1] < y.dim(1); ++at[1])
          for (at[2] = 0; at[2] < y.dim(2); ++at[2])
            for (at[3] = 0; at[3] < y.dim(3); ++at[3]) {
              std::vector<int64_t> from(4);
              for (size_t d = 0; d < 4; ++d) from[static_cast<size_t>(order[d])] = at[d];
              const double want =
                  static_cast<double>(((from[0] * 3 + from[1]) * 4 + from[2]) * 5 + from[3]);
              BOOST_REQUIRE(values[static_cast<size_t>(i++)] == want);
            }
    }
  }
  BOOST_TEST(permute(Tensor::full({}, 3), {}).item() == 3);
  BOOST_TEST(permute(Tensor::zeros({0, 3}), {1, 0}).shape() == (Shape{3, 0}));
}

BOOST_AUTO_TEST_CASE(a_large_transpose_is_its_own_inverse) {
  const Tensor x = random_tensor({301, 203}, 1, -1, 1, DType::bf16);
  BOOST_TEST(same_bits(permute(permute(x, {1, 0}), {1, 0}), x));
}

BOOST_AUTO_TEST_CASE(slices_of_every_dimension) {
  for (const DType dtype : kAll) {
    const Tensor x = counting({2, 3, 2}, dtype);
    BOOST_TEST(all_close(slice(x, 0, 1, 2), Tensor::from({6, 7, 8, 9, 10, 11}, {1, 3, 2}), 0));
    BOOST_TEST(
        all_close(slice(x, 1, 1, 3), Tensor::from({2, 3, 4, 5, 8, 9, 10, 11}, {2, 2, 2}), 0));
    BOOST_TEST(all_close(slice(x, -1, 1, 2), Tensor::from({1, 3, 5, 7, 9, 11}, {2, 3, 1}), 0));
    BOOST_TEST(slice(x, 1, 2, 2).shape() == (Shape{2, 0, 2}));
    BOOST_TEST(slice(x, 0, 1, 2).raw_data() ==
               static_cast<const char*>(x.raw_data()) + 6 * size_of(dtype));
  }
}

BOOST_AUTO_TEST_CASE(concat_undoes_slices) {
  for (const DType dtype : kAll) {
    const Tensor x = counting({3, 4, 5}, dtype);
    for (int dim = -3; dim < 3; ++dim) {
      const int64_t n = x.dim(dim);
      BOOST_TEST(same_bits(
          concat({slice(x, dim, 0, 1), slice(x, dim, 1, 1), slice(x, dim, 1, n)}, dim), x));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_written_slice_is_read_again_and_nothing_else_changes) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64})
    for (int dim = 0; dim < 3; ++dim) {
      const Tensor x = random_tensor({3, 4, 5}, 1, -1, 1, dtype),
                   part = random_tensor(x.shape().with(dim, 2), 2, -1, 1, dtype);
      Tensor y = x.clone();
      write_slice(y, dim - 3, 1, part);
      BOOST_TEST(same_bits(slice(y, dim, 1, 3), part));
      BOOST_TEST(same_bits(slice(y, dim, 0, 1), slice(x, dim, 0, 1)));
      BOOST_TEST(same_bits(slice(y, dim, 3, x.dim(dim)), slice(x, dim, 3, x.dim(dim))));
    }
  Tensor y = Tensor::zeros({2, 3});
  BOOST_CHECK_EXCEPTION(
      write_slice(y, 1, 2, Tensor::zeros({2, 2})), ShapeError,
      says_exactly("[write_slice] expected a part of y[2, 3] in dimension 1, got [2, 2] at 2"));
  BOOST_CHECK_EXCEPTION(write_slice(y, 0, 0, Tensor::zeros({1, 3}, DType::f64)), DTypeError,
                        says_exactly("[write_slice] expected x in float32, got float64"));
}

BOOST_AUTO_TEST_CASE(gradients_agree_with_differences) {
  const Tensor x = random_tensor({2, 3, 4}, 1), y = random_tensor({2, 5, 4}, 2);
  const auto check = [&](auto f) {
    BOOST_TEST(
        gradients_agree([&](const std::vector<Tensor>& in) { return f(in[0], in[1]); }, {x, y}));
  };
  check([](const Tensor& a, const Tensor&) { return square(reshape(a, {6, 4})); });
  check([](const Tensor& a, const Tensor&) { return square(permute(a, {2, 0, 1})); });
  for (int dim = 0; dim < 3; ++dim) {
    check([&](const Tensor& a, const Tensor&) { return square(slice(a, dim, 1, 2)); });
    check([&](const Tensor& a, const Tensor&) { return square(concat({a, a}, dim)); });
  }
  check([](const Tensor& a, const Tensor& b) { return square(concat({a, b, a}, 1)); });
}

BOOST_AUTO_TEST_CASE(errors_name_the_op_and_what_came) {
  const Tensor x = Tensor::zeros({2, 3});
  BOOST_CHECK_EXCEPTION(reshape(x, {4}), ShapeError,
                        says_exactly("[reshape] expected 6 elements as in x[2, 3], got shape [4]"));
  for (const auto& [order, text] : std::vector<std::pair<std::vector<int>, std::string>>{
           {{0}, "[0]"}, {{0, 0}, "[0, 0]"}, {{0, 2}, "[0, 2]"}, {{-1, 0}, "[-1, 0]"}})
    BOOST_CHECK_EXCEPTION(
        permute(x, order), ShapeError,
        says_exactly("[permute] expected each dimension of x[2, 3] once, got " + text));
  BOOST_CHECK_EXCEPTION(
      slice(x, 1, 2, 4), ShapeError,
      says_exactly("[slice] expected 0 <= begin <= end <= 3 in dimension 1 of x[2, 3], "
                   "got 2 and 4"));
  BOOST_CHECK_EXCEPTION(slice(x, 2, 0, 1), ShapeError,
                        says_exactly("[slice] expected a dimension of x[2, 3], got 2"));
  BOOST_CHECK_EXCEPTION(concat({}, 0), ShapeError,
                        says_exactly("[concat] expected at least one tensor, got none"));
  BOOST_CHECK_EXCEPTION(
      concat({x, Tensor::zeros({3, 2})}, 0), ShapeError,
      says_exactly("[concat] expected shapes equal but for dimension 0, got [2, 3] and [3, 2]"));
  BOOST_CHECK_EXCEPTION(concat({x, cast(x, DType::f64)}, 0), DTypeError,
                        says_exactly("[concat] expected equal dtypes, got float32 and float64"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
