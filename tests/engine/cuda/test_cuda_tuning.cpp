// Products by algorithms that were measured, whatever the device proposes: the library's own on a
// card. test_blas_tuning holds which are chosen.

#include <boost/test/unit_test.hpp>

#include "engine/product_choices.h"
#include "tests/engine/cuda/gemm_case.h"
#include "tests/engine/cuda/linear_case.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_cuda_tuning)  // ctest: gpu
namespace {

// Without choices, also when a case fails.
struct NoChoices {
  ~NoChoices() { use_product_choices(kCuda, {}); }
};

BOOST_AUTO_TEST_CASE(a_tuned_product_agrees_and_has_the_same_bits_with_the_same_choices) {
  const NoChoices afterwards;
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const bool transpose_b : {false, true}) {
      const GemmOperands of({64, 48, 300, false, transpose_b}, dtype, DType::f32, true);
      Tensor tuned;
      const ProductChoices choices = tune_products(kCuda, [&] { tuned = of.result(kCuda); });
      BOOST_TEST(choices.of.size() == 1u);
      BOOST_TEST(all_close(tuned, of.result(Device{}), tolerance(DType::f32, Work::product)));
      BOOST_TEST(same_bits(of.result(kCuda), tuned));
      use_product_choices(kCuda, {});
      of.result(kCuda);
      use_product_choices(kCuda, parse_product_choices("f", to_text(choices)));
      BOOST_TEST(same_bits(of.result(kCuda), tuned), dtype << ' ' << transpose_b);
    }
}

BOOST_AUTO_TEST_CASE(tuned_gradients_of_weight_and_bias_agree_and_repeat) {
  const NoChoices afterwards;
  constexpr WeightGradientCase kCase{2048, 48, 64};
  for (const DType dtype : {DType::f32, DType::bf16}) {
    Inputs tuned;
    tune_products(kCuda, [&] { tuned = weight_gradients(kCuda, kCase, dtype); });
    weight_gradients_agree(kCase, dtype);
    for (int repeat = 0; repeat < 3; ++repeat) {
      const Inputs again = weight_gradients(kCuda, kCase, dtype);
      BOOST_TEST(same_bits(again[0], tuned[0]));
      BOOST_TEST(same_bits(again[1], tuned[1]));
    }
  }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
