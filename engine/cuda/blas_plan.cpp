#include "engine/cuda/blas_plan.h"

#include <algorithm>

namespace farfield {
namespace {

using Preference = BlasObject<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

// cublasLt...SetAttribute() with the value's own size
template <class Set, class Handle, class Attribute, class Value>
void set(Set set_attribute, Handle handle, Attribute attribute, const Value& value) {
  cublas_check(set_attribute(handle, attribute, &value, sizeof value), "attribute ",
               static_cast<int>(attribute), " of a product");
}

// The largest power of two, up to 16, that divides an address and its stride: no kernel loads more
// at once, and a larger limit would separate equal problems.
uint32_t alignment_of(const void* begin, int64_t stride_bytes) {
  const auto bits = reinterpret_cast<uintptr_t>(begin) | static_cast<uintptr_t>(stride_bytes) | 16u;
  return static_cast<uint32_t>(bits & (~bits + 1));
}

BlasEpilogue epilogue_of(const BlasProduct& product) {
  return product.bias    ? BlasEpilogue::bias
         : product.dbias ? BlasEpilogue::dbias
                         : BlasEpilogue::none;
}

const void* epilogue_array(const BlasProduct& product) {
  return product.bias ? product.bias : product.dbias;
}

}  // namespace

BlasProblem::BlasProblem(const BlasProduct& product)
    : m(product.first.m),
      n(product.first.n),
      k(product.first.k),
      lda(product.first.lda),
      ldb(product.first.ldb),
      ldc(product.first.ldc),
      transpose_a(product.first.transpose_a),
      transpose_b(product.first.transpose_b),
      in(product.first.in),
      out(product.first.out),
      epilogue(epilogue_of(product)),
      n_batch(product.n_batch),
      stride_a(product.n_batch == 1 ? 0 : product.stride_a),
      stride_b(product.n_batch == 1 ? 0 : product.stride_b),
      stride_c(product.n_batch == 1 ? 0 : product.stride_c),
      alignment_a(alignment_of(product.first.a, stride_a * size_of(in))),
      alignment_b(alignment_of(product.first.b, stride_b * size_of(in))),
      alignment_c(alignment_of(product.first.c, stride_c * size_of(out))),
      alignment_bias(alignment_of(epilogue_array(product), 0)) {}

std::string BlasProblem::text() const {
  const auto matrix = [](int64_t rows, int64_t columns, bool is_transposed, int64_t ld,
                         uint32_t alignment) {
    return concat(rows, " x ", columns, is_transposed ? " transposed" : "", " (ld ", ld,
                  ", aligned to ", alignment, ")");
  };
  std::string text = concat(matrix(m, k, transpose_a, lda, alignment_a), " by ",
                            matrix(k, n, transpose_b, ldb, alignment_b), ", ", in, " to ", out,
                            " (ld ", ldc, ", aligned to ", alignment_c, ")");
  if (epilogue != BlasEpilogue::none)
    text += concat(epilogue == BlasEpilogue::bias ? ", bias" : ", dbias", " (aligned to ",
                   alignment_bias, ")");
  if (n_batch > 1)
    text += concat(", ", n_batch, " times, ", stride_a, ", ", stride_b, " and ", stride_c,
                   " elements apart");
  return text;
}

BlasPlan::Layout BlasPlan::layout(int64_t rows, int64_t columns, int64_t ld, DType dtype,
                                  const BlasProblem& problem, int64_t stride) {
  Layout made(cublasLtMatrixLayoutCreate, dtype == DType::bf16 ? CUDA_R_16BF : CUDA_R_32F,
              static_cast<uint64_t>(rows), static_cast<uint64_t>(columns), ld);
  if (problem.n_batch == 1) return made;
  constexpr auto kSet = cublasLtMatrixLayoutSetAttribute;
  set(kSet, made.get(), CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(problem.n_batch));
  set(kSet, made.get(), CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
  return made;
}

// The library's matrices are column-major; to it a row-major matrix is the transposed matrix. So it
// computes C^T = op(B)^T op(A)^T: our B is its first matrix, our A its second, and our bias along a
// row of C is its bias along a column. The sums of our op(A) are the sums of its second matrix,
// BGRADB, which it offers if that matrix is transposed; on an H200 a separate kernel makes them.
BlasPlan::BlasPlan(const BlasProblem& problem)
    : problem_(problem),
      description_(cublasLtMatmulDescCreate, CUBLAS_COMPUTE_32F, CUDA_R_32F),
      b_(layout(problem.transpose_b ? problem.k : problem.n,
                problem.transpose_b ? problem.n : problem.k, problem.ldb, problem.in, problem,
                problem.stride_b)),
      a_(layout(problem.transpose_a ? problem.m : problem.k,
                problem.transpose_a ? problem.k : problem.m, problem.lda, problem.in, problem,
                problem.stride_a)),
      c_(layout(problem.n, problem.m, problem.ldc, problem.out, problem, problem.stride_c)) {
  const auto set_description = [&](cublasLtMatmulDescAttributes_t attribute, auto value) {
    set(cublasLtMatmulDescSetAttribute, description_.get(), attribute, value);
  };
  const auto op = [](bool transpose) -> int32_t { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; };
  set_description(CUBLASLT_MATMUL_DESC_TRANSA, op(problem.transpose_b));
  set_description(CUBLASLT_MATMUL_DESC_TRANSB, op(problem.transpose_a));
  if (problem.epilogue == BlasEpilogue::bias)
    set_description(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t{CUBLASLT_EPILOGUE_BIAS});
  if (problem.epilogue == BlasEpilogue::dbias) {
    set_description(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t{CUBLASLT_EPILOGUE_BGRADB});
    set_description(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, int32_t{CUDA_R_32F});
  }
}

// Before an algorithm is chosen, too: the library then takes the alignment from the address.
void BlasPlan::set_epilogue_array(const BlasProduct& product) const {
  if (problem_.epilogue != BlasEpilogue::none)
    set(cublasLtMatmulDescSetAttribute, description_.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER,
        epilogue_array(product));
}

std::vector<BlasAlgorithm> BlasPlan::proposed(cublasLtHandle_t context, const BlasProduct& product,
                                              int n, uint64_t most_workspace_bytes) const {
  set_epilogue_array(product);
  const Preference preference(cublasLtMatmulPreferenceCreate);
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
    set(cublasLtMatmulPreferenceSetAttribute, preference.get(), attribute, value);
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, most_workspace_bytes);
  // Where parts of the inner dimension are summed apart, they are added afterwards, in order and
  // before they are rounded.
  prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
         uint32_t{CUBLASLT_REDUCTION_SCHEME_NONE} | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, problem_.alignment_b);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, problem_.alignment_a);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, problem_.alignment_c);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, problem_.alignment_c);
  std::vector<cublasLtMatmulHeuristicResult_t> found(static_cast<size_t>(n));
  int n_found = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(context, description_.get(), b_.get(), a_.get(), c_.get(),
                                     c_.get(), preference.get(), n, found.data(), &n_found);
  if (is_refusal(status)) return {};
  if (status != CUBLAS_STATUS_SUCCESS)
    cublas_check(status, "choice of an algorithm for a ", describe(product));
  std::vector<BlasAlgorithm> algorithms;
  for (int i = 0; i < std::min(n, n_found); ++i)
    if (const auto& one = found[static_cast<size_t>(i)]; one.state == CUBLAS_STATUS_SUCCESS)
      algorithms.push_back({one.algo, one.workspaceSize});
  return algorithms;
}

BlasAlgorithm BlasPlan::restored(cublasLtHandle_t context, const BlasProduct& product,
                                 const ProductChoice& choice) const {
  set_epilogue_array(product);
  BlasAlgorithm algorithm = {};
  static_assert(sizeof algorithm.words.data == sizeof choice.algorithm);
  std::copy(choice.algorithm.begin(), choice.algorithm.end(), algorithm.words.data);
  cublasLtMatmulHeuristicResult_t result = {};
  cublas_check(cublasLtMatmulAlgoCheck(context, description_.get(), b_.get(), a_.get(), c_.get(),
                                       c_.get(), &algorithm.words, &result),
               "the algorithm that was chosen for a ", describe(product));
  algorithm.workspace_bytes = result.workspaceSize;
  return algorithm;
}

bool BlasPlan::run(cublasLtHandle_t context, const BlasProduct& product,
                   const BlasAlgorithm& algorithm, void* c, void* workspace,
                   cudaStream_t stream) const {
  set_epilogue_array(product);
  const Gemm& p = product.first;
  const float alpha = 1, beta = p.accumulate ? 1 : 0;
  const cublasStatus_t status = cublasLtMatmul(
      context, description_.get(), &alpha, p.b, b_.get(), p.a, a_.get(), &beta, c, c_.get(), c,
      c_.get(), &algorithm.words, workspace, algorithm.workspace_bytes, stream);
  if (problem_.epilogue != BlasEpilogue::none && is_refusal(status)) return false;
  if (status != CUBLAS_STATUS_SUCCESS) cublas_check(status, describe(product));
  return true;
}

// Whether the library has nothing for this. Of types and epilogues that do not go together it says
// that too, or that a value is invalid, by version; a product without an epilogue is always valid.
bool BlasPlan::is_refusal(cublasStatus_t status) const {
  return status == CUBLAS_STATUS_NOT_SUPPORTED ||
         (status == CUBLAS_STATUS_INVALID_VALUE && problem_.epilogue != BlasEpilogue::none);
}

}  // namespace farfield
