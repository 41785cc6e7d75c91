// The emulated cuBLASLt but for the products themselves: its objects and its searches.

#include "tests/support/cuda/cublas_lt.h"

#include <algorithm>
#include <cstring>

#include "tests/support/cuda/cublas_lt_problem.h"

using namespace farfield::emulation;

struct cublasLtContext {};

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

template <class T>
cublasStatus_t take(T& to, const void* value, size_t size_bytes) {
  if (!value || size_bytes != sizeof(T)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&to, value, sizeof(T));
  return CUBLAS_STATUS_SUCCESS;
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
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return take(product->bias_type, value, size_bytes);
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
  if (product->epilogue != CUBLASLT_EPILOGUE_DEFAULT &&
      emulated_blas().epilogue_search_status != CUBLAS_STATUS_SUCCESS)
    return emulated_blas().epilogue_search_status;
  const bool is_known = problem.summed() ? emulated_blas().sums_factors
                                         : product->epilogue == CUBLASLT_EPILOGUE_DEFAULT ||
                                               emulated_blas().adds_bias;
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
    words[bias_alignment] = alignment_of(product->bias);
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
