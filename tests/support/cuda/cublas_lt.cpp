#include "tests/support/cuda/cublas_lt.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/dtype.h"
#include "engine/kernels/gemm.h"
#include "tests/support/cuda/copies.h"
#include "tests/support/cuda/device_memory.h"
#include "tests/support/cuda/poison.h"

using namespace farfield;
using farfield::emulation::emulated_blas;
using farfield::emulation::is_device_memory;

struct cublasLtContext {};

struct cublasLtMatrixLayoutOpaque_t {
  cudaDataType_t type;
  int64_t rows, columns, ld;
  int32_t n_batch = 1;
  int64_t stride = 0;

  int64_t element_bytes() const { return type == CUDA_R_32F ? 4 : 2; }
  // From the first element to the end of the last.
  size_t size_bytes() const {
    const int64_t last = (n_batch - 1) * stride + (columns - 1) * ld + rows;
    return static_cast<size_t>(last * element_bytes());
  }
  bool is_valid() const {
    return rows > 0 && columns > 0 && rows <= INT32_MAX && columns <= INT32_MAX && ld >= rows &&
           n_batch > 0 && stride >= 0;
  }
};

struct cublasLtMatmulDescOpaque_t {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  int32_t transpose_a = CUBLAS_OP_N, transpose_b = CUBLAS_OP_N;
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
};

struct cublasLtMatmulPreferenceOpaque_t {
  uint64_t most_workspace_bytes = 0;
  uint32_t reduction_schemes = CUBLASLT_REDUCTION_SCHEME_MASK;
  uint32_t alignment[4] = {256, 256, 256, 256};  // of a, b, c, d
};

namespace farfield::emulation {

Blas& emulated_blas() {
  static Blas blas;
  return blas;
}

}  // namespace farfield::emulation

namespace {

using Layout = cublasLtMatrixLayoutOpaque_t;

struct Problem {
  const cublasLtMatmulDescOpaque_t& product;
  const Layout &a, &b, &c, &d;

  bool is_transposed_a() const { return product.transpose_a == CUBLAS_OP_T; }
  bool is_transposed_b() const { return product.transpose_b == CUBLAS_OP_T; }
  int64_t inner() const { return is_transposed_a() ? a.rows : a.columns; }

  cublasStatus_t check() const {
    const int64_t m = is_transposed_a() ? a.columns : a.rows;
    const int64_t n = is_transposed_b() ? b.rows : b.columns;
    const int64_t inner_b = is_transposed_b() ? b.columns : b.rows;
    const Layout* const all[] = {&a, &b, &c, &d};
    for (const Layout* layout : all)
      if (!layout->is_valid() || layout->n_batch != d.n_batch) return CUBLAS_STATUS_INVALID_VALUE;
    const bool fits =
        inner() == inner_b && d.rows == m && d.columns == n && c.rows == m && c.columns == n;
    if (!fits) return CUBLAS_STATUS_INVALID_VALUE;
    const bool has_types = a.type == b.type && c.type == d.type &&
                           (a.type == CUDA_R_16BF || d.type == CUDA_R_32F) &&
                           product.compute == CUBLAS_COMPUTE_32F && product.scale == CUDA_R_32F;
    const bool has_epilogue =
        product.epilogue == CUBLASLT_EPILOGUE_DEFAULT || product.epilogue == CUBLASLT_EPILOGUE_BIAS;
    return has_types && has_epilogue ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
  }

  // One number for all that an algorithm is chosen by.
  uint64_t fingerprint() const {
    uint64_t hash = 1469598103934665603u;
    const auto mix = [&](int64_t value) {
      hash = (hash ^ static_cast<uint64_t>(value)) * 1099511628211u;
      hash ^= hash >> 29;
    };
    mix(product.transpose_a);
    mix(product.transpose_b);
    mix(product.epilogue);
    const Layout* const all[] = {&a, &b, &c, &d};
    for (const Layout* layout : all) {
      mix(layout->type);
      mix(layout->rows);
      mix(layout->columns);
      mix(layout->ld);
      mix(layout->n_batch);
      mix(layout->stride);
    }
    return hash;
  }
};

// What the words of an algorithm mean here.
enum Word { fingerprint, workspace_bytes, alignment, n_parts = alignment + 4 };

bool is_of(const cublasLtMatmulAlgo_t& algorithm, const Problem& problem) {
  const uint64_t n = algorithm.data[n_parts];
  return algorithm.data[fingerprint] == problem.fingerprint() && n >= 1 && n <= 8;
}

bool is_aligned_to(const void* begin, uint64_t size_bytes) {
  return size_bytes != 0 && reinterpret_cast<uintptr_t>(begin) % size_bytes == 0;
}

template <class T>
cublasStatus_t take(T& to, const void* value, size_t size_bytes) {
  if (!value || size_bytes != sizeof(T)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&to, value, sizeof(T));
  return CUBLAS_STATUS_SUCCESS;
}

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

void multiply(const Problem& problem, int64_t n_part, float alpha, const void* a, const void* b,
              float beta, const void* c, void* d) {
  const auto moved = [](const void* base, int64_t elements, const Layout& layout) {
    return static_cast<const char*>(base) + elements * layout.element_bytes();
  };
  // What is column-major is the transposed matrix in row-major order.
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

const char* cublasLtGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "the library was not initialized";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "the resource allocation failed";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "an invalid value was provided";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "the function failed to launch on the GPU";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "the requested functionality is not supported";
  }
  return "unknown";
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = new cublasLtContext;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

size_t cublasLtGetVersion() { return emulated_blas().version; }

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType_t type,
                                          uint64_t rows, uint64_t columns, int64_t ld) {
  *layout = new Layout{type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), ld};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, size_t size_bytes) {
  return attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT ? take(layout->n_batch, value, size_bytes)
                                                         : take(layout->stride, value, size_bytes);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* product, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  *product = new cublasLtMatmulDescOpaque_t{compute, scale};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) {
  delete product;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t size_bytes) {
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return take(product->transpose_a, value, size_bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return take(product->transpose_b, value, size_bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return take(product->epilogue, value, size_bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return take(product->bias, value, size_bytes);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = new cublasLtMatmulPreferenceOpaque_t;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, size_t size_bytes) {
  if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)
    return take(preference->most_workspace_bytes, value, size_bytes);
  if (attribute == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK)
    return take(preference->reduction_schemes, value, size_bytes);
  return take(preference->alignment[attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES], value,
              size_bytes);
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int n_asked,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* n_found) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!product || !a || !b || !c || !d || !preference || n_asked < 1)
    return CUBLAS_STATUS_INVALID_VALUE;
  ++emulated_blas().n_heuristics;
  emulated_blas().reduction_schemes = preference->reduction_schemes;
  const Problem problem{*product, *a, *b, *c, *d};
  if (const cublasStatus_t status = problem.check(); status != CUBLAS_STATUS_SUCCESS) return status;
  const bool is_known = product->epilogue == CUBLASLT_EPILOGUE_DEFAULT || emulated_blas().adds_bias;
  *n_found = is_known ? std::min(n_asked, emulated_blas().n_algorithms) : 0;
  if (*n_found == 0) return CUBLAS_STATUS_NOT_SUPPORTED;
  for (int i = 0; i < *n_found; ++i) {
    results[i] = {};
    auto& words = results[i].algo.data;
    words[fingerprint] = problem.fingerprint();
    // some want a workspace, and none of them the same
    const int64_t wanted = problem.inner() > 16 ? 64 * (i + 1) * problem.inner() : 0;
    words[workspace_bytes] =
        std::min(static_cast<uint64_t>(wanted), preference->most_workspace_bytes);
    std::copy(preference->alignment, preference->alignment + 4, words + alignment);
    words[n_parts] = static_cast<uint64_t>(i + 1);
    results[i].workspaceSize = words[workspace_bytes];
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                                       cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                       cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t* algorithm,
                                       cublasLtMatmulHeuristicResult_t* result) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!product || !a || !b || !c || !d || !algorithm || !result) return CUBLAS_STATUS_INVALID_VALUE;
  const Problem problem{*product, *a, *b, *c, *d};
  if (const cublasStatus_t status = problem.check(); status != CUBLAS_STATUS_SUCCESS) return status;
  if (!is_of(*algorithm, problem)) return CUBLAS_STATUS_INVALID_VALUE;
  *result = {};
  result->workspaceSize = algorithm->data[workspace_bytes];
  return CUBLAS_STATUS_SUCCESS;
}

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
      product->epilogue != CUBLASLT_EPILOGUE_BIAS ||
      is_device_memory(product->bias,
                       static_cast<size_t>(d_layout->rows * d_layout->element_bytes()));
  const bool has_workspace = workspace_size >= words[workspace_bytes] &&
                             (workspace_size == 0 || (is_device_memory(workspace, workspace_size) &&
                                                      is_aligned_to(workspace, 16)));
  if (!has_arrays || !has_bias || !has_workspace) return CUBLAS_STATUS_INVALID_VALUE;
  if (emulated_blas().product_status != CUBLAS_STATUS_SUCCESS)
    return emulated_blas().product_status;

  const bool changes = number == emulated_blas().changing;
  const int64_t n_part = 1 + number + (changes ? emulated_blas().n_products % 2 : 0);
  const auto& times_us = emulated_blas().times_us;
  const double time_us =
      static_cast<size_t>(number) < times_us.size() ? times_us[static_cast<size_t>(number)] : 0;
  // The objects may be changed as soon as the call returns.
  const auto work = [=, product = *product, a_layout = *a_layout, b_layout = *b_layout,
                     c_layout = *c_layout, d_layout = *d_layout,
                     alpha = *static_cast<const float*>(alpha)] {
    farfield::emulation::finish_copies();
    // Before the product is made: a workspace that is an operand too spoils the result.
    if (workspace_size > 0) fill(workspace, workspace_size, farfield::emulation::Poison::nan);
    multiply({product, a_layout, b_layout, c_layout, d_layout}, n_part, alpha, a, b, beta_value, c,
             d);
    farfield::emulation::device_takes(time_us);
  };
  if (farfield::emulation::is_capturing(stream))
    return farfield::emulation::capture(stream, work) == cudaSuccess
               ? CUBLAS_STATUS_SUCCESS
               : CUBLAS_STATUS_EXECUTION_FAILED;
  work();
  return CUBLAS_STATUS_SUCCESS;
}
