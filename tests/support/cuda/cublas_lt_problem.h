#pragma once
// The description of a product for the emulated cuBLASLt, and the meaning of an algorithm's words:
// for its searches (cublas_lt.cpp) and its products (cublas_lt_product.cpp).

#include "tests/support/cuda/cublas_lt.h"

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
  void* bias = nullptr;
  int32_t bias_type = -1;  // the type of d
};

namespace farfield::emulation {

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
    return has_types && has_epilogue() ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
  }

  // The factor whose sums over the inner dimension go to the bias; null: none.
  const Layout* summed() const {
    return product.epilogue == CUBLASLT_EPILOGUE_BGRADA   ? &a
           : product.epilogue == CUBLASLT_EPILOGUE_BGRADB ? &b
                                                          : nullptr;
  }
  int64_t n_bias() const { return summed() ? summed()->rows : d.rows; }

  // The library sums a factor whose columns are the inner dimension; here for one product, and not
  // for a single sum.
  bool has_epilogue() const {
    if (product.epilogue == CUBLASLT_EPILOGUE_DEFAULT) return true;
    if (product.bias_type != -1 && product.bias_type != d.type) return false;
    if (!summed()) return product.epilogue == CUBLASLT_EPILOGUE_BIAS;
    const bool has_columns = summed() == &a ? !is_transposed_a() : is_transposed_b();
    return has_columns && d.n_batch == 1 && n_bias() > 1;
  }

  // A fingerprint of everything that an algorithm is chosen by.
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

// The meaning of an algorithm's words here.
enum Word { fingerprint, workspace_bytes, alignment, n_parts = alignment + 4, bias_alignment };

inline bool is_of(const cublasLtMatmulAlgo_t& algorithm, const Problem& problem) {
  const uint64_t n = algorithm.data[n_parts];
  return algorithm.data[fingerprint] == problem.fingerprint() && n >= 1 && n <= 8;
}

// The alignment that an algorithm chosen for this array requires; for null the largest.
inline uint64_t alignment_of(const void* begin) {
  const auto bits = reinterpret_cast<uintptr_t>(begin) | 16u;
  return bits & (~bits + 1);
}

inline bool is_aligned_to(const void* begin, uint64_t size_bytes) {
  return size_bytes != 0 && reinterpret_cast<uintptr_t>(begin) % size_bytes == 0;
}

}  // namespace farfield::emulation
