#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "engine/autograd.h"
#include "engine/tensor.h"
#include "tests/support/all_close.h"
#include "tests/support/random_tensor.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_tensor)  // ctest: on_cuda arm64
namespace {

BOOST_AUTO_TEST_CASE(copies_share_elements_and_clones_do_not) {
  const Tensor x = Tensor::from({1, 2}, {2});
  Tensor copy = x, clone = x.clone();
  copy.data<float>()[0] = 7;
  BOOST_TEST(x.to_vector()[0] == 7);
  BOOST_TEST(clone.to_vector()[0] == 1);
}

BOOST_AUTO_TEST_CASE(values_are_kept_in_every_dtype) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64, DType::i32}) {
    const Tensor x = Tensor::from({1, -2, 3, 4, 5, 6}, {2, 3}, dtype);
    BOOST_TEST(x.dtype() == dtype);
    BOOST_TEST(x.size_bytes() == 6 * size_of(dtype));
    BOOST_TEST(x.to_vector() == (std::vector<double>{1, -2, 3, 4, 5, 6}),
               boost::test_tools::per_element());
    BOOST_TEST(all_close(Tensor::full({2}, 3, dtype), Tensor::from({3, 3}, {2}), 0));
    BOOST_TEST(all_close(zeros_like(x), Tensor::zeros({2, 3}), 0));
    BOOST_TEST(same_bits(x.clone(), x));
  }
  BOOST_TEST(Tensor::from({1 + 0x1p-8}, {}, DType::bf16).item() == 1);
  const std::vector<int32_t> ids{3, INT32_MIN};
  BOOST_TEST(Tensor::from(ids, {2}).to_vector()[1] == INT32_MIN);
}

BOOST_AUTO_TEST_CASE(a_large_tensor_is_filled_to_its_end) {
  const Tensor x = Tensor::full({100003}, 2, DType::bf16);
  for (const double value : x.clone().to_vector()) BOOST_REQUIRE(value == 2);
}

BOOST_AUTO_TEST_CASE(a_view_shares_a_range_of_elements) {
  const Tensor x = Tensor::from({0, 1, 2, 3, 4, 5}, {2, 3});
  BOOST_TEST(all_close(x.view({2}, 2), Tensor::from({2, 3}, {2}), 0));
  BOOST_TEST(all_close(x.view({2}, 2).view({1}, 1), Tensor::from({3}, {1}), 0));
  BOOST_TEST(x.view({0}, 6).numel() == 0);
  BOOST_CHECK_EXCEPTION(
      x.view({3}, 4), ShapeError,
      says_exactly("[tensor] a view of shape [3] at element 4 does not fit in [2, 3]"));
  BOOST_CHECK_THROW(x.view({1}, -1), ShapeError);
  BOOST_CHECK_THROW(x.view({1}, INT64_MAX), ShapeError);
}

BOOST_AUTO_TEST_CASE(empty_tensors_are_tensors) {
  const Tensor x = Tensor::zeros({3, 0});
  BOOST_TEST(x.defined());
  BOOST_TEST(x.to_vector().empty());
  BOOST_TEST(x.clone().shape() == (Shape{3, 0}));
}

BOOST_AUTO_TEST_CASE(detached_tensors_have_no_history) {
  Tensor x = Tensor::full({}, 2);
  x.set_requires_grad();
  BOOST_TEST(x.needs_grad());
  BOOST_TEST(!x.detach().needs_grad());
  BOOST_TEST(x.detach().raw_data() == x.raw_data());
  BOOST_TEST(!Tensor().detach().defined());
  BOOST_TEST(!Tensor().needs_grad());
}

BOOST_AUTO_TEST_CASE(only_the_last_handle_is_the_sole_owner) {
  Tensor x = Tensor::zeros({2});
  BOOST_TEST(x.is_sole_owner());
  {
    const Tensor view = x.view({1});
    BOOST_TEST(!x.is_sole_owner());
  }
  BOOST_TEST(x.is_sole_owner());
  const Tensor copy = x;
  BOOST_TEST(!x.is_sole_owner());
}

BOOST_AUTO_TEST_CASE(memory_follows_the_handles) {
  const int64_t before = memory_stats({}).current_bytes;
  {
    const Tensor x = Tensor::zeros({1024});
    const Tensor y = x.view({1});
    BOOST_TEST(memory_stats({}).current_bytes == before + 4096);
  }
  BOOST_TEST(memory_stats({}).current_bytes == before);
}

// Whether x is kept rounded, to the bits that a cast gives.
bool is_kept(const Tensor& x) {
  return x.has_rounded() && same_bits(x.to(DType::bf16), x.clone().to(DType::bf16));
}

BOOST_AUTO_TEST_CASE(the_same_values_in_another_type) {
  const Tensor x = Tensor::from({1 + 0x1p-8, -3}, {2});
  BOOST_TEST(same_bits(x.to(DType::bf16), Tensor::from({1, -3}, {2}, DType::bf16)));
  BOOST_TEST(same_bits(x.to(DType::f64), Tensor::from({1 + 0x1p-8, -3}, {2}, DType::f64)));
  BOOST_TEST(std::as_const(x).raw_data() == std::as_const(x).to(DType::f32).detach().raw_data());
}

BOOST_AUTO_TEST_CASE(what_is_kept_rounded_is_what_a_cast_gives) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Tensor x = Tensor::from({1 + 0x1p-8, 1 + 3 * 0x1p-8, 1 + 0x1p-8 + 0x1p-20, -0.0, 1e-40,
                                 3.4e38, -kInf, std::numeric_limits<double>::quiet_NaN()},
                                {2, 4});
  BOOST_TEST(!x.has_rounded());
  x.keep_rounded();
  BOOST_TEST(is_kept(x));
  BOOST_TEST(same_bits(x.to(DType::bf16), Tensor::from(x.to_vector(), {2, 4}, DType::bf16)));
  BOOST_TEST(is_kept(x.detach()));
  BOOST_TEST(is_kept(x.view({3}, 1)));
  BOOST_TEST(!x.clone().has_rounded());
  const Tensor large = random_tensor({70001}, 1, -1, 1, DType::f32), none = Tensor::zeros({0});
  large.view({2}, 9).keep_rounded();  // of all that shares its storage
  BOOST_TEST(is_kept(large));
  none.keep_rounded();
  BOOST_TEST(is_kept(none));
}

BOOST_AUTO_TEST_CASE(who_asks_where_to_write_ends_what_is_kept_rounded) {
  Tensor x = random_tensor({4, 5}, 1, -1, 1, DType::f32);
  x.keep_rounded();
  const Tensor copy = x.to(DType::bf16);
  const auto ended_by = [&](const auto& ask) {
    BOOST_TEST(is_kept(x));
    ask();
    BOOST_TEST(!x.has_rounded());
    BOOST_TEST(x.data_and_rounded<float>().rounded == nullptr);
    BOOST_TEST(same_bits(x.to(DType::bf16), x.clone().to(DType::bf16)));
    x.keep_rounded();
    BOOST_TEST(x.to(DType::bf16).raw_data() == std::as_const(copy).raw_data());  // where it was
  };
  ended_by([&] { x.data<float>()[3] = 9; });
  ended_by([&] { *static_cast<float*>(x.raw_data()) = 7; });
  ended_by([&] { x.view({2}, 6).data<float>()[1] = 5; });
  ended_by([&] { x.detach().data<float>()[1] = 5; });
  ended_by([&] {
    Tensor other = x;
    other.data<float>()[2] = 8;
  });
  BOOST_TEST(is_kept(x));
  BOOST_TEST(std::as_const(x).data<float>()[0] == 7);
  BOOST_TEST(x.to_vector()[7] == 5);
  BOOST_TEST(is_kept(x));  // reading leaves it
}

BOOST_AUTO_TEST_CASE(assigning_and_writing_both_keep_it) {
  Tensor x = random_tensor({4, 5}, 1, -1, 1, DType::f32);
  x.keep_rounded();
  const void* const at = std::as_const(x).to(DType::bf16).raw_data();
  x.assign(random_tensor({4, 5}, 2, -1, 1, DType::f32));
  BOOST_TEST(is_kept(x));
  x.assign(random_tensor({4, 5}, 3));  // of another type
  BOOST_TEST(is_kept(x));
  x.view({2, 3}, 7).assign(random_tensor({2, 3}, 4, -1, 1, DType::f32));
  BOOST_TEST(is_kept(x));
  x.assign(x);
  BOOST_TEST(is_kept(x));
  const auto [data, rounded] = x.view({5}, 5).data_and_rounded<float>();
  data[1] = 3;
  rounded[1] = BFloat16(3.0f);
  BOOST_TEST(is_kept(x));
  BOOST_TEST(x.to_vector()[6] == 3);
  BOOST_TEST(at == std::as_const(x).to(DType::bf16).raw_data());
  x.data<float>();
  x.assign(random_tensor({4, 5}, 5, -1, 1, DType::f32));
  BOOST_TEST(!x.has_rounded());  // a part may be assigned, which would leave the rest
}

BOOST_AUTO_TEST_CASE(column_sums_are_kept_until_something_is_written) {
  Tensor x = random_tensor({2, 3, 4}, 1, -1, 1, DType::f32);
  const Tensor sums = Tensor::from({1, 2, 3, 4}, {4});
  const auto are_kept = [&](const Tensor& of) {
    return of.column_sums().defined() && same_bits(of.column_sums(), sums);
  };
  BOOST_TEST(!x.column_sums().defined());
  const auto ended_by = [&](const auto& ask) {
    x.keep_column_sums(sums);
    BOOST_TEST(are_kept(x));
    ask();
    BOOST_TEST(!x.column_sums().defined());
  };
  ended_by([&] { x.data<float>()[3] = 9; });
  ended_by([&] { x.view({2}, 6).raw_data(); });
  ended_by([&] { x.data_and_rounded<float>(); });
  ended_by([&] { x.assign(random_tensor({2, 3, 4}, 2, -1, 1, DType::f32)); });
  x.keep_column_sums(sums);
  BOOST_TEST(are_kept(x.detach()));
  BOOST_TEST(are_kept(x.view({6, 4})));
  BOOST_TEST(!x.view({4, 6}).column_sums().defined());  // other columns
  BOOST_TEST(!x.view({3, 4}).column_sums().defined());  // other rows
  BOOST_TEST(!x.view({3, 4}, 12).column_sums().defined());
  BOOST_TEST(!x.clone().column_sums().defined());
  BOOST_TEST(x.to_vector().size() == 24u);
  BOOST_TEST(are_kept(x));  // reading leaves them
}
BOOST_AUTO_TEST_CASE(misuse_is_refused_with_a_message) {
  const Tensor x = Tensor::zeros({2}), undefined;
  BOOST_CHECK_EXCEPTION(undefined.shape(), ShapeError,
                        says_exactly("[tensor] expected a tensor, got an undefined one"));
  BOOST_CHECK_EXCEPTION(x.data<double>(), DTypeError,
                        says_exactly("[tensor] expected float64, got float32"));
  BOOST_CHECK_EXCEPTION(x.item(), ShapeError,
                        says_exactly("[tensor] item() expects one element, got shape [2]"));
  BOOST_CHECK_EXCEPTION(Tensor::from({1, 2, 3}, {2}), ShapeError,
                        says_exactly("[tensor] expected 2 values for shape [2], got 3"));
  BOOST_CHECK_EXCEPTION(
      Tensor::empty({INT64_MAX / 2}), ShapeError,
      says_exactly("[tensor] the size in bytes of [4611686018427387903] overflows 64 bits"));
  BOOST_CHECK_EXCEPTION(Tensor::zeros({2}, DType::f64).keep_rounded(), DTypeError,
                        says_exactly("[tensor] expected float32 to keep rounded, got float64"));
  BOOST_CHECK_EXCEPTION(x.keep_column_sums(Tensor::zeros({3})), ShapeError,
                        says_exactly("[tensor] expected sums over the rows of x[2], got [3]"));
  BOOST_CHECK_EXCEPTION(
      x.view({1}).keep_column_sums(Tensor::zeros({1})), ShapeError,
      says_exactly("[tensor] expected column sums of all that is stored, got those of a part"));
  Tensor ids = Tensor::zeros({2}, DType::i32);
  BOOST_CHECK_EXCEPTION(ids.set_requires_grad(), DTypeError,
                        says_exactly("[tensor] a gradient needs a floating type, got int32"));
  BOOST_CHECK_EXCEPTION(x.set_grad(Tensor::zeros({3})), ShapeError,
                        says_exactly("[tensor] expected a gradient of shape [2]"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
