#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <type_traits>

#include "engine/autograd.h"
#include "engine/tensor.h"
#include "tests/support/all_close.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_tensor)  // ctest: on_cuda
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
  Tensor ids = Tensor::zeros({2}, DType::i32);
  BOOST_CHECK_EXCEPTION(ids.set_requires_grad(), DTypeError,
                        says_exactly("[tensor] a gradient needs a floating type, got int32"));
  BOOST_CHECK_EXCEPTION(x.set_grad(Tensor::zeros({3})), ShapeError,
                        says_exactly("[tensor] expected a gradient of shape [2]"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
