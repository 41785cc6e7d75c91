// What is asked of cuBLASLt, and what comes of its answers: as the emulation counts and makes them.

#include <boost/test/unit_test.hpp>

#include "engine/cuda/context.h"
#include "tests/engine/cuda/gemm_case.h"
#include "tests/engine/cuda/linear_case.h"
#include "tests/support/cuda/other_blas.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_blas_calls)
namespace {

using emulation::emulated_blas;

BOOST_AUTO_TEST_CASE(a_long_batch_goes_in_parts) {
  const GemmOperands operands({1, 2, 1, false, false, 0, 0, 0, 65537}, DType::f32, DType::f32,
                              false);
  const int before = emulated_blas().n_products;
  operands.result(kCuda);
  BOOST_TEST(emulated_blas().n_products - before == 2);
}

BOOST_AUTO_TEST_CASE(an_algorithm_is_asked_for_once) {
  const GemmOperands operands({11, 13, 17, false, true}, DType::f32, DType::f32, false);
  const int before = emulated_blas().n_heuristics;
  const Tensor first = operands.result(kCuda);
  BOOST_TEST(emulated_blas().n_heuristics == before + 1);
  for (int i = 0; i < 3; ++i) BOOST_TEST(same_bits(operands.result(kCuda), first));
  BOOST_TEST(emulated_blas().n_heuristics == before + 1);
  GemmOperands({11, 13, 17, true, true}, DType::f32, DType::f32, false).result(kCuda);
  BOOST_TEST(emulated_blas().n_heuristics == before + 2);
}

BOOST_AUTO_TEST_CASE(sums_have_one_order) {
  GemmOperands({3, 5, 19, false, false}, DType::bf16, DType::bf16, false).result(kCuda);
  BOOST_TEST(emulated_blas().reduction_schemes == uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
}

BOOST_AUTO_TEST_CASE(a_product_that_fails_names_its_sizes) {
  const OtherBlas other;
  const GemmOperands operands({3, 5, 23, false, false}, DType::bf16, DType::f32, false);
  emulated_blas().product_status = CUBLAS_STATUS_EXECUTION_FAILED;
  BOOST_CHECK_EXCEPTION(
      operands.result(kCuda), BackendError,
      says_exactly("[cuda] product of 3 x 23 and 23 x 5, bfloat16 to float32: cuBLASLt: the "
                   "function failed to launch on the GPU"));
  emulated_blas().n_algorithms = 0;
  const GemmOperands batch({3, 5, 29, false, false, 0, 0, 0, 2}, DType::f32, DType::f32, false);
  for (int i = 0; i < 2; ++i)
    BOOST_CHECK_EXCEPTION(batch.result(kCuda), BackendError,
                          says_exactly("[cuda] product of 3 x 29 and 29 x 5, float32 to float32, 2 "
                                       "times: expected an algorithm of cuBLASLt, got none"));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const Tensor x = random_tensor({64}, 5, -1, 1, DType::f32).to(kCuda);
  Tensor c = Tensor::zeros({64}, DType::f32, kCuda);
  const auto refused = [&](const Gemm& p) {
    BOOST_CHECK_EXCEPTION(gemm(cuda_tag(kCuda), p), BackendError,
                          says("[cuda] ", "cuBLASLt: an invalid value was provided"));
  };
  const Gemm good{.m = 4,
                  .n = 4,
                  .k = 4,
                  .a = x.raw_data(),
                  .lda = 4,
                  .b = x.raw_data(),
                  .ldb = 4,
                  .c = c.raw_data(),
                  .ldc = 4};
  gemm(cuda_tag(kCuda), good);
  Gemm bad = good;
  bad.ldb = 3;
  refused(bad);
  bad = good;
  bad.m = 17;  // rows of A beyond its end
  refused(bad);
  bad = good;
  bad.a = &bad;
  refused(bad);
}

BOOST_AUTO_TEST_CASE(a_bias_that_the_library_does_not_add_is_added_after_it) {
  const OtherBlas other;
  emulated_blas().adds_bias = false;
  for (const DType dtype : {DType::f32, DType::bf16})
    linear_agrees({{6}, 11, 21}, dtype, true, Activation::gelu);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
