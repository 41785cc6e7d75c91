// What is asked of cuBLASLt, and what comes of its answers: as the emulation counts and makes them.

#include <boost/test/unit_test.hpp>

#include "engine/cuda/blas_plan.h"
#include "engine/cuda/context.h"
#include "tests/engine/cuda/gemm_case.h"
#include "tests/engine/cuda/linear_case.h"
#include "tests/support/cuda/everywhere.h"
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

// What the way back through a layer puts into the stream: products and kernels.
std::pair<int, int64_t> work_of_backward(Activation activation) {
  Tensor x = random_tensor({37, 13}, 1, -1, 1, DType::bf16).to(kCuda);
  Tensor w = random_tensor({22, 13}, 2, -1, 1, DType::f32).to(kCuda);
  Tensor bias = random_tensor({22}, 3, -1, 1, DType::f32).to(kCuda);
  for (Tensor* input : {&x, &w, &bias}) input->set_requires_grad();
  const Tensor y = linear(x, w, bias, activation);
  const Tensor dy = random_tensor({37, 22}, 4, -1, 1, DType::bf16).to(kCuda);
  const int n_products = emulated_blas().n_products;
  const int64_t n_launches = emulation::n_launches();
  backward(y, dy);
  return {emulated_blas().n_products - n_products, emulation::n_launches() - n_launches};
}

BOOST_AUTO_TEST_CASE(dbias_comes_with_dw_where_the_library_sums_a_factor) {
  const OtherBlas other;
  const auto with = work_of_backward(Activation::none);
  const auto of_gelu = work_of_backward(Activation::gelu);
  BOOST_TEST(with.first == 2);
  BOOST_TEST(of_gelu.first == 2);
  emulated_blas().sums_factors = false;
  use_product_choices(kCuda, {});
  const auto without = work_of_backward(Activation::none);
  BOOST_TEST(without.first == 2);
  BOOST_TEST(without.second == with.second + 2);  // a pass over dy, and the sum of its parts
  // Whose pass over dy sums it anyway.
  BOOST_TEST((work_of_backward(Activation::gelu) == of_gelu));
}

BOOST_AUTO_TEST_CASE(dbias_that_the_library_does_not_sum_is_summed_before) {
  const OtherBlas other;
  emulated_blas().sums_factors = false;
  for (const DType dtype : {DType::f32, DType::bf16}) {
    linear_agrees({{43}, 11, 21}, dtype, true, Activation::none);
    weight_gradients_agree({57, 12, 23}, dtype);
  }
}

// Some versions say "invalid value" of an epilogue that they do not have for these types, and a
// search that finds an algorithm does not promise that the product is made.
BOOST_AUTO_TEST_CASE(an_epilogue_that_is_refused_late_is_done_apart) {
  const auto agree = [](int64_t n) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
      linear_agrees({{n}, 11, 21}, dtype, true, Activation::none);
      weight_gradients_agree({n, 12, 23}, dtype);
    }
  };
  {
    const OtherBlas other;
    emulated_blas().epilogue_search_status = CUBLAS_STATUS_INVALID_VALUE;
    agree(67);
  }
  for (const cublasStatus_t status : {CUBLAS_STATUS_NOT_SUPPORTED, CUBLAS_STATUS_INVALID_VALUE}) {
    const OtherBlas other;
    emulated_blas().epilogue_product_status = status;
    use_product_choices(kCuda, {});
    agree(71);
    const int before = emulated_blas().n_products;
    agree(71);
    // The second time none of them is asked for with its epilogue again: y, dx and dw of each.
    BOOST_TEST(emulated_blas().n_products - before == 2 * 4);
  }
}

BOOST_AUTO_TEST_CASE(one_column_is_never_summed_by_the_library) {
  const int before = emulated_blas().n_heuristics;
  weight_gradients_agree({59, 12, 1}, DType::bf16);
  BOOST_TEST(emulated_blas().n_heuristics == before + 1);  // of dw alone
}

BOOST_AUTO_TEST_CASE(a_product_with_dbias_that_fails_says_so) {
  const OtherBlas other;
  emulated_blas().product_status = CUBLAS_STATUS_EXECUTION_FAILED;
  BOOST_CHECK_EXCEPTION(
      weight_gradients(kCuda, {61, 12, 23}, DType::bf16), BackendError,
      says_exactly("[cuda] product of 23 x 61 and 61 x 12, bfloat16 to float32, with dbias: "
                   "cuBLASLt: the function failed to launch on the GPU"));
}

BOOST_AUTO_TEST_CASE(each_problem_has_a_text) {
  const Tensor x = Tensor::zeros({64}, DType::bf16, kCuda);
  Tensor c = Tensor::zeros({64}, DType::f32, kCuda);
  BlasProduct product{.first = {.m = 3,
                                .n = 5,
                                .k = 4,
                                .transpose_a = true,
                                .a = x.raw_data(),
                                .lda = 3,
                                .b = x.raw_data(),
                                .ldb = 5,
                                .c = c.raw_data(),
                                .ldc = 5,
                                .in = DType::bf16,
                                .out = DType::f32}};
  const std::string text =
      "3 x 4 transposed (ld 3, aligned to 16) by 4 x 5 (ld 5, aligned to 16), bfloat16 to float32 "
      "(ld 5, aligned to 16)";
  BOOST_TEST(BlasProblem(product).text() == text);
  product.dbias = c.data<float>() + 17;
  BOOST_TEST(BlasProblem(product).text() == text + ", dbias (aligned to 4)");
  product.dbias = nullptr;
  product.bias = c.data<float>() + 18;
  BOOST_TEST(BlasProblem(product).text() == text + ", bias (aligned to 8)");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
