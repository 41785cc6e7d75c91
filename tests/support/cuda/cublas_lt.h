#pragma once
// The part of cuBLASLt that the engine uses: products in column-major order by the CPU's own, with
// the epilogues that add a bias or sum a factor. What the library would refuse is refused here too:
// sizes and leading dimensions that do not fit, types that it does not multiply, a factor that it
// does not sum, an algorithm that was chosen for another problem or for better aligned arrays, a
// workspace that is missing or too small. The algorithms that a search finds sum the inner
// dimension in one part, two, three and so on. Names, parameters and values as in NVIDIA's headers.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/cuda/runtime.h"

enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
};
const char* cublasLtGetStatusString(cublasStatus_t status);

enum cudaDataType_t { CUDA_R_32F = 0, CUDA_R_16BF = 14 };
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };
enum cublasComputeType_t { CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_FAST_TF32 = 77 };

using cublasLtHandle_t = struct cublasLtContext*;
cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle);
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle);
size_t cublasLtGetVersion();

enum cublasLtMatrixLayoutAttribute_t {
  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,           // int32_t
  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6,  // int64_t
};
using cublasLtMatrixLayout_t = struct cublasLtMatrixLayoutOpaque_t*;
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType_t type,
                                          uint64_t rows, uint64_t columns, int64_t ld);
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout);
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, size_t size_bytes);

enum cublasLtEpilogue_t {
  CUBLASLT_EPILOGUE_DEFAULT = 1,
  CUBLASLT_EPILOGUE_BIAS = 4,
  CUBLASLT_EPILOGUE_BGRADA = 256,  // the sums of op(a) over the inner dimension go to the bias
  CUBLASLT_EPILOGUE_BGRADB = 512,  // the same sums of op(b)
};
enum cublasLtMatmulDescAttributes_t {
  CUBLASLT_MATMUL_DESC_TRANSA = 3,           // int32_t
  CUBLASLT_MATMUL_DESC_TRANSB = 4,           // int32_t
  CUBLASLT_MATMUL_DESC_EPILOGUE = 7,         // uint32_t
  CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8,     // void*, const void*
  CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 26,  // int32_t, -1: the type of d
};
using cublasLtMatmulDesc_t = struct cublasLtMatmulDescOpaque_t*;
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* product, cublasComputeType_t compute,
                                        cudaDataType_t scale);
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product);
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t size_bytes);

enum cublasLtReductionScheme_t {
  CUBLASLT_REDUCTION_SCHEME_NONE = 0,
  CUBLASLT_REDUCTION_SCHEME_INPLACE = 1,
  CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE = 2,
  CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE = 4,
  CUBLASLT_REDUCTION_SCHEME_MASK = 7,
};
enum cublasLtMatmulPreferenceAttributes_t {
  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,    // uint64_t
  CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK = 3,  // uint32_t
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,  // uint32_t, as the next three
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8,
};
using cublasLtMatmulPreference_t = struct cublasLtMatmulPreferenceOpaque_t*;
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference);
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference);
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, size_t size_bytes);

struct cublasLtMatmulAlgo_t {
  uint64_t data[8];
};
struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
  int reserved[4];
};
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int n_asked,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* n_found);
cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                                       cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                       cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t* algorithm,
                                       cublasLtMatmulHeuristicResult_t* result);
/// Stricter than the library in two things: an algorithm must be given, and it sums in full
/// float32.
cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
                              const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              size_t workspace_bytes, cudaStream_t stream);

namespace farfield::emulation {

/// Requests to the library, and its answers, for tests.
struct Blas {
  size_t version = 130002;
  int n_heuristics = 0, n_products = 0;  ///< calls
  uint32_t reduction_schemes = 0;        ///< that the latest search allowed
  int n_algorithms = 1;                  ///< that a search finds at most
  std::vector<double> times_us = {};     ///< of a product by each of them, on the device's clock
  double sums_us = 0;                    ///< more, or less, of one that sums a factor
  int changing = -1;                     ///< one whose order of sums is another each time; -1: none
  int changing_dbias = -1;               ///< the same, but of the sums of a factor alone
  int omitting_dbias = -1;               ///< one that leaves these out
  int failing = -1;                      ///< one that fails when it is used; -1: none
  bool adds_bias = true;                 ///< whether it finds one for this epilogue
  bool sums_factors = true;              ///< and for this
  cublasStatus_t product_status = CUBLAS_STATUS_SUCCESS;  ///< of a product that is well-formed
  /// For products with an epilogue: the status of the search, and of the product if an algorithm is
  /// found.
  cublasStatus_t epilogue_search_status = CUBLAS_STATUS_SUCCESS;
  cublasStatus_t epilogue_product_status = CUBLAS_STATUS_SUCCESS;
};
Blas& emulated_blas();

}  // namespace farfield::emulation
