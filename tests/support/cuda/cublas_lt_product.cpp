// Products by the emulated cuBLASLt, on the host.

#include <vector>

#include "engine/dtype.h"
#include "engine/kernels/gemm.h"
#include "tests/support/cuda/copies.h"
#include "tests/support/cuda/cublas_lt_problem.h"
#include "tests/support/cuda/device_memory.h"
#include "tests/support/cuda/poison.h"

using namespace farfield;
using namespace farfield::emulation;

namespace {

// d = product + beta c + bias for one product of the batch, rounded once.
template <class T>
void finish(const Problem& problem, const std::vector<float>& product, float alpha, float beta,
            const T* c, T* d) {
  const auto* const bias = problem.product.epilogue == CUBLASLT_EPILOGUE_BIAS
                               ? static_cast<const T*>(problem.product.bias)
                               : nullptr;
  for (int64_t column = 0; column < problem.d.columns; ++column)
    for (int64_t row = 0; row < problem.d.rows; ++row) {
      float value = alpha * product[static_cast<size_t>(column * problem.d.rows + row)];
      if (beta != 0) value += beta * static_cast<float>(c[column * problem.c.ld + row]);
      if (bias) value += static_cast<float>(bias[row]);
      d[column * problem.d.ld + row] = static_cast<T>(value);
    }
}

// The inner dimension in n parts, one after the other.
void multiply_in_parts(const Gemm& whole, int64_t n) {
  Gemm p = whole;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t begin = whole.k * i / n, end = whole.k * (i + 1) / n;
    const auto moved = [&](const void* base, int64_t elements) {
      return static_cast<const char*>(base) + elements * size_of(whole.in);
    };
    p.k = end - begin;
    p.a = moved(whole.a, whole.transpose_a ? begin * whole.lda : begin);
    p.b = moved(whole.b, whole.transpose_b ? begin : begin * whole.ldb);
    p.accumulate = i > 0;
    if (p.k > 0 || i == 0) gemm(Cpu{}, p);
  }
}

// The sums of a factor's rows, in parts of the inner dimension, one after the other.
template <class In, class Out>
void sum_rows(const Layout& factor, const In* from, int64_t n_part, Out* sums) {
  for (int64_t row = 0; row < factor.rows; ++row) {
    float total = 0;
    for (int64_t i = 0; i < n_part; ++i) {
      float part = 0;
      for (int64_t column = factor.columns * i / n_part; column < factor.columns * (i + 1) / n_part;
           ++column)
        part += static_cast<float>(from[column * factor.ld + row]);
      total += part;
    }
    sums[row] = static_cast<Out>(total);
  }
}

void sum_factor(const Problem& problem, int64_t n_part, const void* a, const void* b) {
  const Layout* const factor = problem.summed();
  if (!factor) return;
  const void* const from = factor == &problem.a ? a : b;
  const auto sum = [&](auto in, auto out) {
    sum_rows(*factor, static_cast<const decltype(in)*>(from), n_part,
             static_cast<decltype(out)*>(problem.product.bias));
  };
  if (factor->type == CUDA_R_32F) return sum(float{}, float{});
  problem.d.type == CUDA_R_32F ? sum(BFloat16{}, float{}) : sum(BFloat16{}, BFloat16{});
}

void multiply(const Problem& problem, int64_t n_part, float alpha, const void* a, const void* b,
              float beta, const void* c, void* d) {
  const auto moved = [](const void* base, int64_t elements, const Layout& layout) {
    return static_cast<const char*>(base) + elements * layout.element_bytes();
  };
  // A column-major matrix is the transposed matrix in row-major order.
  Gemm p;
  p.m = problem.d.columns;
  p.n = problem.d.rows;
  p.k = problem.inner();
  p.transpose_a = problem.is_transposed_b();
  p.transpose_b = problem.is_transposed_a();
  p.lda = problem.b.ld;
  p.ldb = problem.a.ld;
  p.ldc = p.n;
  p.in = problem.a.type == CUDA_R_32F ? DType::f32 : DType::bf16;
  p.out = DType::f32;
  std::vector<float> product(static_cast<size_t>(p.m * p.n));
  p.c = product.data();
  for (int64_t i = 0; i < problem.d.n_batch; ++i) {
    p.a = moved(b, i * problem.b.stride, problem.b);
    p.b = moved(a, i * problem.a.stride, problem.a);
    multiply_in_parts(p, n_part);
    const void* const from = beta != 0 ? moved(c, i * problem.c.stride, problem.c) : nullptr;
    void* const to = const_cast<char*>(moved(d, i * problem.d.stride, problem.d));
    if (problem.d.type == CUDA_R_32F)
      finish(problem, product, alpha, beta, static_cast<const float*>(from),
             static_cast<float*>(to));
    else
      finish(problem, product, alpha, beta, static_cast<const BFloat16*>(from),
             static_cast<BFloat16*>(to));
  }
}

}  // namespace

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
                              const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              size_t workspace_size, cudaStream_t stream) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!product || !a_layout || !b_layout || !c_layout || !d_layout || !alpha || !beta || !algorithm)
    return CUBLAS_STATUS_INVALID_VALUE;
  ++emulated_blas().n_products;
  const Problem problem{*product, *a_layout, *b_layout, *c_layout, *d_layout};
  if (const cublasStatus_t status = problem.check(); status != CUBLAS_STATUS_SUCCESS) return status;
  const auto& words = algorithm->data;
  if (!is_of(*algorithm, problem)) return CUBLAS_STATUS_INVALID_VALUE;
  const auto number = static_cast<int>(words[n_parts]) - 1;
  if (number == emulated_blas().failing) return CUBLAS_STATUS_NOT_SUPPORTED;

  const float beta_value = *static_cast<const float*>(beta);
  const auto is_array = [&](const void* begin, const Layout& layout, uint64_t aligned_to) {
    const int64_t stride_bytes = layout.n_batch == 1 ? 0 : layout.stride * layout.element_bytes();
    return is_device_memory(begin, layout.size_bytes()) && is_aligned_to(begin, aligned_to) &&
           stride_bytes % static_cast<int64_t>(aligned_to) == 0;
  };
  const bool has_arrays = is_array(a, *a_layout, words[alignment]) &&
                          is_array(b, *b_layout, words[alignment + 1]) &&
                          (beta_value == 0 || is_array(c, *c_layout, words[alignment + 2])) &&
                          is_array(d, *d_layout, words[alignment + 3]);
  const bool has_bias =
      product->epilogue == CUBLASLT_EPILOGUE_DEFAULT ||
      (is_device_memory(product->bias,
                        static_cast<size_t>(problem.n_bias() * d_layout->element_bytes())) &&
       is_aligned_to(product->bias, words[bias_alignment]));
  const bool has_workspace = workspace_size >= words[workspace_bytes] &&
                             (workspace_size == 0 || (is_device_memory(workspace, workspace_size) &&
                                                      is_aligned_to(workspace, 16)));
  if (!has_arrays || !has_bias || !has_workspace) return CUBLAS_STATUS_INVALID_VALUE;
  if (emulated_blas().product_status != CUBLAS_STATUS_SUCCESS)
    return emulated_blas().product_status;
  if (product->epilogue != CUBLASLT_EPILOGUE_DEFAULT &&
      emulated_blas().epilogue_product_status != CUBLAS_STATUS_SUCCESS)
    return emulated_blas().epilogue_product_status;

  // By several parts more: where a library adds one element after the other, halves have the bits
  // of the whole.
  const int other = emulated_blas().n_products % 2 == 0 ? 0 : 6;
  const bool changes = number == emulated_blas().changing;
  const bool dbias_changes = changes || number == emulated_blas().changing_dbias;
  const int64_t n_part = 1 + number + (changes ? other : 0);
  const int64_t n_part_of_dbias =
      number == emulated_blas().omitting_dbias ? 0 : 1 + number + (dbias_changes ? other : 0);
  const auto& times_us = emulated_blas().times_us;
  const double time_us =
      (static_cast<size_t>(number) < times_us.size() ? times_us[static_cast<size_t>(number)] : 0) +
      (problem.summed() ? emulated_blas().sums_us : 0);
  // The objects may be changed as soon as the call returns.
  const auto work = [=, product = *product, a_layout = *a_layout, b_layout = *b_layout,
                     c_layout = *c_layout, d_layout = *d_layout,
                     alpha = *static_cast<const float*>(alpha)] {
    if (farfield::emulation::begin_work() != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
    farfield::emulation::finish_copies();
    // Before the product is made: a workspace that is an operand too spoils the result.
    if (workspace_size > 0) fill(workspace, workspace_size, farfield::emulation::Poison::nan);
    const Problem own{product, a_layout, b_layout, c_layout, d_layout};
    multiply(own, n_part, alpha, a, b, beta_value, c, d);
    if (n_part_of_dbias > 0) sum_factor(own, n_part_of_dbias, a, b);
    farfield::emulation::device_takes(time_us);
    return CUBLAS_STATUS_SUCCESS;
  };
  if (farfield::emulation::is_capturing(stream))
    return farfield::emulation::capture(stream, work) == cudaSuccess
               ? CUBLAS_STATUS_SUCCESS
               : CUBLAS_STATUS_EXECUTION_FAILED;
  return work();
}
