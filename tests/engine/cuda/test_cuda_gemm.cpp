// Products of matrices by (emulated) cuBLASLt against those of the CPU.

#include <boost/test/unit_test.hpp>

#include "engine/cuda/context.h"
#include "engine/dispatch.h"
#include "engine/kernels/gemm.h"
#include "engine/ops/matmul.h"
#include "tests/support/both_devices.h"
#include "tests/support/cuda/cublas_lt.h"

namespace farfield::test {
namespace {

using emulation::emulated_blas;

// Puts back what a test asks the library to answer.
struct KeepBlas {
  emulation::Blas before = emulated_blas();
  ~KeepBlas() { emulated_blas() = before; }
};

struct Case {
  int64_t m, n, k;
  bool transpose_a, transpose_b;
  int64_t gap_a = 0, gap_b = 0, gap_c = 0;  // elements between stored rows
  int64_t n_batch = 1, gap_batch = 0;
};

// Operands of a case and what is in C before, on the CPU.
struct Operands {
  Gemm p;
  int64_t n_batch, stride_a, stride_b, stride_c;
  Tensor a, b, c;

  Operands(const Case& s, DType in, DType out, bool accumulate) : n_batch(s.n_batch) {
    const int64_t rows_a = s.transpose_a ? s.k : s.m, rows_b = s.transpose_b ? s.n : s.k;
    p = Gemm{.m = s.m,
             .n = s.n,
             .k = s.k,
             .transpose_a = s.transpose_a,
             .transpose_b = s.transpose_b,
             .in = in,
             .out = out,
             .accumulate = accumulate};
    p.lda = (s.transpose_a ? s.m : s.k) + s.gap_a;
    p.ldb = (s.transpose_b ? s.k : s.n) + s.gap_b;
    p.ldc = s.n + s.gap_c;
    stride_a = rows_a * p.lda + s.gap_batch;
    stride_b = rows_b * p.ldb + s.gap_batch;
    stride_c = s.m * p.ldc + s.gap_batch;
    a = random_tensor({s.n_batch * stride_a}, 1, -1, 1, in);
    b = random_tensor({s.n_batch * stride_b}, 2, -1, 1, in);
    c = random_tensor({s.n_batch * stride_c}, 3, -1, 1, out);
  }

  // All of C after the product, gaps included, on the CPU.
  Tensor result(const Device& device) const {
    const Tensor a_there = a.to(device), b_there = b.to(device);
    Tensor c_there = c.clone().to(device);
    Gemm product = p;
    product.a = a_there.raw_data();
    product.b = b_there.raw_data();
    product.c = c_there.raw_data();
    dispatch(device, [&](auto tag) {
      if (n_batch == 1)
        gemm(tag, product);
      else
        gemm_batched(tag, product, n_batch, stride_a, stride_b, stride_c);
    });
    return c_there.to(Device{});
  }
};

constexpr std::pair<DType, DType> kTypes[] = {
    {DType::f32, DType::f32}, {DType::bf16, DType::bf16}, {DType::bf16, DType::f32}};

void agree(const Case& s) {
  for (const auto& [in, out] : kTypes)
    for (const bool accumulate : {false, true}) {
      const Operands operands(s, in, out, accumulate);
      const auto close = all_close(operands.result(kCuda), operands.result(Device{}),
                                   tolerance(out, Work::product));
      BOOST_CHECK_MESSAGE(close, s.m << " x " << s.k << " x " << s.n << ' ' << in << " to " << out
                                     << (accumulate ? ", accumulated: " : ": ") << close.message());
    }
}

BOOST_AUTO_TEST_CASE(products_of_all_arrangements_agree) {
  for (const bool transpose_a : {false, true})
    for (const bool transpose_b : {false, true}) {
      agree({1, 1, 1, transpose_a, transpose_b});
      agree({5, 3, 7, transpose_a, transpose_b});
      agree({16, 40, 33, transpose_a, transpose_b});
      agree({1, 37, 64, transpose_a, transpose_b});
      agree({65, 1, 8, transpose_a, transpose_b});
    }
}

BOOST_AUTO_TEST_CASE(rows_may_be_apart) {
  for (const bool transpose_a : {false, true})
    for (const bool transpose_b : {false, true}) {
      agree({5, 3, 7, transpose_a, transpose_b, 1, 2, 3});
      agree({8, 16, 24, transpose_a, transpose_b, 8, 16, 8});
    }
}

BOOST_AUTO_TEST_CASE(batches_agree) {
  for (const bool transpose_a : {false, true})
    for (const bool transpose_b : {false, true}) {
      agree({4, 5, 6, transpose_a, transpose_b, 0, 0, 0, 3});
      agree({4, 5, 6, transpose_a, transpose_b, 1, 2, 3, 2, 5});
      agree({7, 1, 33, transpose_a, transpose_b, 0, 0, 0, 2, 1});
    }
}

BOOST_AUTO_TEST_CASE(empty_sizes_do_as_on_the_cpu) {
  for (const int64_t n_batch : {0, 1, 2}) {
    agree({0, 3, 4, false, false, 0, 0, 0, n_batch});
    agree({3, 0, 4, false, false, 0, 0, 0, n_batch});
    agree({3, 5, 0, false, false, 0, 0, 2, n_batch, 1});  // C is cleared, but for the gaps
    agree({0, 0, 0, false, false, 0, 0, 0, n_batch});
  }
}

BOOST_AUTO_TEST_CASE(a_long_batch_goes_in_parts) {
  const int before = emulated_blas().n_products;
  agree({1, 2, 1, false, false, 0, 0, 0, 65537});
  BOOST_TEST(emulated_blas().n_products - before == 2 * 6);
}

BOOST_AUTO_TEST_CASE(operands_may_begin_anywhere) {
  for (const auto& [in, out] : kTypes)
    for (const int64_t offset : {1, 2, 4, 8}) {
      const Tensor x = random_tensor({200}, 4, -1, 1, in);
      const auto result = [&, &to = out, &from = in](const Device& device) {
        const Tensor there = x.to(device);
        Tensor c = Tensor::zeros({40}, to, device);
        Gemm p{.m = 4,
               .n = 8,
               .k = 8,
               .a = there.view({1}, offset).raw_data(),
               .lda = 8,
               .b = there.view({1}, 2 * offset + 40).raw_data(),
               .ldb = 8,
               .c = c.view({1}, offset).raw_data(),
               .ldc = 8,
               .in = from,
               .out = to};
        dispatch(device, [&](auto tag) { gemm(tag, p); });
        return c.to(Device{});
      };
      BOOST_TEST(all_close(result(kCuda), result(Device{}), tolerance(out, Work::product)));
    }
}

BOOST_AUTO_TEST_CASE(an_algorithm_is_asked_for_once) {
  const Operands operands({11, 13, 17, false, true}, DType::f32, DType::f32, false);
  const int before = emulated_blas().n_heuristics;
  const Tensor first = operands.result(kCuda);
  BOOST_TEST(emulated_blas().n_heuristics == before + 1);
  for (int i = 0; i < 3; ++i) BOOST_TEST(same_bits(operands.result(kCuda), first));
  BOOST_TEST(emulated_blas().n_heuristics == before + 1);
  Operands({11, 13, 17, true, true}, DType::f32, DType::f32, false).result(kCuda);
  BOOST_TEST(emulated_blas().n_heuristics == before + 2);
}

BOOST_AUTO_TEST_CASE(sums_have_one_order) {
  Operands({3, 5, 19, false, false}, DType::bf16, DType::bf16, false).result(kCuda);
  BOOST_TEST(emulated_blas().reduction_schemes == uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
}

BOOST_AUTO_TEST_CASE(a_product_that_fails_names_its_sizes) {
  const KeepBlas keep;
  const Operands operands({3, 5, 23, false, false}, DType::bf16, DType::f32, false);
  emulated_blas().product_status = CUBLAS_STATUS_EXECUTION_FAILED;
  BOOST_CHECK_EXCEPTION(
      operands.result(kCuda), BackendError,
      says_exactly("[cuda] product of 3 x 23 and 23 x 5, bfloat16 to float32: cuBLASLt: the "
                   "function failed to launch on the GPU"));
  emulated_blas().n_algorithms = 0;
  const Operands batch({3, 5, 29, false, false, 0, 0, 0, 2}, DType::f32, DType::f32, false);
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

BOOST_AUTO_TEST_CASE(matmul_and_its_gradients_agree) {
  const std::pair<Shape, Shape> shapes[] = {
      {{3, 4}, {4, 5}}, {{33, 17}, {17, 40}}, {{2, 3, 5}, {2, 5, 7}}, {{2, 3, 8, 6}, {2, 3, 6, 4}},
      {{3, 0}, {0, 5}}, {{0, 4}, {4, 5}},     {{0, 3, 4}, {0, 4, 2}}};
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const auto& [a, b] : shapes)
      devices_agree(concat(dtype, ' ', a, ' ', b),
                    {random_tensor(a, 6, -1, 1, dtype), random_tensor(b, 7, -1, 1, dtype)},
                    Work::product,
                    [](const std::vector<Tensor>& in) { return matmul(in[0], in[1]); });
}

}  // namespace
}  // namespace farfield::test
