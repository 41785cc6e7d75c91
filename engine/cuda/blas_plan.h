#pragma once

#include <cublasLt.h>

#include <compare>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/cuda/blas.h"
#include "engine/cuda/check.h"
#include "engine/product_choices.h"

namespace farfield {

/// One object of the library, made by `create` with the arguments that follow.
template <class Handle, cublasStatus_t (*destroy)(Handle)>
class BlasObject {
 public:
  template <class Create, class... Arguments>
  explicit BlasObject(Create create, Arguments... arguments) {
    Handle handle = nullptr;
    cublas_check(create(&handle, arguments...), "an object of the library");
    handle_.reset(handle);
  }
  Handle get() const { return handle_.get(); }

 private:
  struct Destroy {
    void operator()(Handle handle) const { destroy(handle); }
  };
  std::unique_ptr<std::remove_pointer_t<Handle>, Destroy> handle_;
};
using BlasContext = BlasObject<cublasLtHandle_t, cublasLtDestroy>;

/// Extra work that the library fuses with a product.
enum class BlasEpilogue { none, bias, dbias };

/// All that an algorithm is chosen by.
struct BlasProblem {
  int64_t m, n, k, lda, ldb, ldc;
  bool transpose_a, transpose_b;
  DType in, out;
  BlasEpilogue epilogue;
  int64_t n_batch, stride_a, stride_b, stride_c;
  uint32_t alignment_a, alignment_b, alignment_c, alignment_bias;

  explicit BlasProblem(const BlasProduct& product);
  auto operator<=>(const BlasProblem&) const = default;
  /// "8 x 4 (ld 4) and 4 x 5 transposed (ld 4), ...": for files, one text for each problem.
  std::string text() const;
};

/// An algorithm of the library for a product, and the device memory that it needs.
struct BlasAlgorithm {
  cublasLtMatmulAlgo_t words;
  size_t workspace_bytes;
};

/// A problem as the library sees it.
class BlasPlan {
 public:
  explicit BlasPlan(const BlasProblem& problem);

  /// The algorithms that the library proposes, its best guess first, and at most n; none when it
  /// has none. All of them sum in one order. BackendError when it fails, naming the product.
  std::vector<BlasAlgorithm> proposed(cublasLtHandle_t context, const BlasProduct& product, int n,
                                      uint64_t most_workspace_bytes) const;
  /// An algorithm chosen earlier. BackendError when the library refuses it for this product.
  BlasAlgorithm restored(cublasLtHandle_t context, const BlasProduct& product,
                         const ProductChoice& choice) const;
  /// Puts the product into the stream, to c instead of its own place. False, and nothing done, when
  /// the library will not make it with its epilogue after all; BackendError when it fails.
  bool run(cublasLtHandle_t context, const BlasProduct& product, const BlasAlgorithm& algorithm,
           void* c, void* workspace, cudaStream_t stream) const;

 private:
  using Layout = BlasObject<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
  using Description = BlasObject<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
  static Layout layout(int64_t rows, int64_t columns, int64_t ld, DType dtype,
                       const BlasProblem& problem, int64_t stride);
  void set_epilogue_array(const BlasProduct& product) const;
  bool is_refusal(cublasStatus_t status) const;

  BlasProblem problem_;
  Description description_;
  Layout b_, a_, c_;
};

}  // namespace farfield
