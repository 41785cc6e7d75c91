#include "engine/cuda/blas.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>

#include "engine/cuda/check.h"
#include "engine/cuda/context.h"
#include "engine/cuda/launch.h"
#include "engine/cuda/per_device.h"
#include "engine/storage.h"

namespace farfield {
namespace {

// What an algorithm may use of device memory: what NVIDIA recommends for compute capability 9.0.
constexpr uint64_t kMostWorkspaceBytes = uint64_t{32} << 20;

// One object of the library, made by `create` with the arguments that follow.
template <class Handle, cublasStatus_t (*destroy)(Handle)>
class Owned {
 public:
  template <class Create, class... Arguments>
  explicit Owned(Create create, Arguments... arguments) {
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
using Context = Owned<cublasLtHandle_t, cublasLtDestroy>;
using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Description = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

// cublasLt...SetAttribute() with the value's own size
template <class Set, class Handle, class Attribute, class Value>
void set(Set set_attribute, Handle handle, Attribute attribute, const Value& value) {
  cublas_check(set_attribute(handle, attribute, &value, sizeof value), "attribute ",
               static_cast<int>(attribute), " of a product");
}

// The largest power of two that an address and what is added to it are multiples of, up to 16: no
// kernel loads more at once, and more would tell problems apart that are the same.
uint32_t alignment_of(const void* begin, int64_t stride_bytes) {
  const auto bits = reinterpret_cast<uintptr_t>(begin) | static_cast<uintptr_t>(stride_bytes) | 16u;
  return static_cast<uint32_t>(bits & (~bits + 1));
}

// All that an algorithm is chosen by.
struct Key {
  int64_t m, n, k, lda, ldb, ldc;
  bool transpose_a, transpose_b;
  DType in, out;
  bool has_bias;
  int64_t n_batch, stride_a, stride_b, stride_c;
  uint32_t alignment_a, alignment_b, alignment_c, alignment_bias;

  explicit Key(const BlasProduct& product)
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
        has_bias(product.bias != nullptr),
        n_batch(product.n_batch),
        stride_a(product.n_batch == 1 ? 0 : product.stride_a),
        stride_b(product.n_batch == 1 ? 0 : product.stride_b),
        stride_c(product.n_batch == 1 ? 0 : product.stride_c),
        alignment_a(alignment_of(product.first.a, stride_a * size_of(in))),
        alignment_b(alignment_of(product.first.b, stride_b * size_of(in))),
        alignment_c(alignment_of(product.first.c, stride_c * size_of(out))),
        alignment_bias(alignment_of(product.bias, 0)) {}
  auto operator<=>(const Key&) const = default;
};

Layout layout(int64_t rows, int64_t columns, int64_t ld, DType dtype, const Key& key,
              int64_t stride) {
  Layout made(cublasLtMatrixLayoutCreate, dtype == DType::bf16 ? CUDA_R_16BF : CUDA_R_32F,
              static_cast<uint64_t>(rows), static_cast<uint64_t>(columns), ld);
  if (key.n_batch == 1) return made;
  constexpr auto kSet = cublasLtMatrixLayoutSetAttribute;
  set(kSet, made.get(), CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(key.n_batch));
  set(kSet, made.get(), CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
  return made;
}

// A problem as the library sees it. Its matrices are column-major, and what is row-major is then
// the transposed matrix: so C^T = op(B)^T op(A)^T is what it computes, from our B and then our A,
// and our bias along a row of C is its bias along a column.
struct Plan {
  Description description;
  Layout b, a, c;
  std::optional<cublasLtMatmulHeuristicResult_t> algorithm;

  Plan(cublasLtHandle_t context, const Key& key, const BlasProduct& product)
      : description(cublasLtMatmulDescCreate, CUBLAS_COMPUTE_32F, CUDA_R_32F),
        b(layout(key.transpose_b ? key.k : key.n, key.transpose_b ? key.n : key.k, key.ldb, key.in,
                 key, key.stride_b)),
        a(layout(key.transpose_a ? key.m : key.k, key.transpose_a ? key.k : key.m, key.lda, key.in,
                 key, key.stride_a)),
        c(layout(key.n, key.m, key.ldc, key.out, key, key.stride_c)) {
    constexpr auto kSet = cublasLtMatmulDescSetAttribute;
    const auto op = [](bool transpose) -> int32_t { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; };
    set(kSet, description.get(), CUBLASLT_MATMUL_DESC_TRANSA, op(key.transpose_b));
    set(kSet, description.get(), CUBLASLT_MATMUL_DESC_TRANSB, op(key.transpose_a));
    if (key.has_bias) {
      const uint32_t epilogue = CUBLASLT_EPILOGUE_BIAS;
      set(kSet, description.get(), CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
      set_bias(product.bias);
    }
    choose(context, key, product);
  }

  void set_bias(const void* bias) {
    set(cublasLtMatmulDescSetAttribute, description.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  }

 private:
  void choose(cublasLtHandle_t context, const Key& key, const BlasProduct& product) {
    const Preference preference(cublasLtMatmulPreferenceCreate);
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
      set(cublasLtMatmulPreferenceSetAttribute, preference.get(), attribute, value);
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kMostWorkspaceBytes);
    // Where parts of the inner dimension are summed apart, they are added afterwards, in order and
    // before they are rounded.
    prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
           uint32_t{CUBLASLT_REDUCTION_SCHEME_NONE} | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, key.alignment_b);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, key.alignment_a);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, key.alignment_c);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, key.alignment_c);
    cublasLtMatmulHeuristicResult_t found = {};
    int n_found = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(context, description.get(), b.get(), a.get(), c.get(),
                                       c.get(), preference.get(), 1, &found, &n_found);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) return;
    if (status != CUBLAS_STATUS_SUCCESS)
      cublas_check(status, "choice of an algorithm for a ", describe(product));
    if (n_found > 0 && found.state == CUBLAS_STATUS_SUCCESS) algorithm = found;
  }
};

// The library on one device. Its only user at a time holds the mutex until the product is in the
// stream: the workspace and the bias of a plan are those of the product that comes next.
class Blas {
 public:
  Blas() : context_(cublasLtCreate) {}

  bool product(Cuda device, const BlasProduct& product) {
    const std::lock_guard lock(mutex_);
    Plan& plan = plan_of(product);
    if (!plan.algorithm) return false;
    if (product.bias) plan.set_bias(product.bias);
    const Gemm& p = product.first;
    const float alpha = 1, beta = p.accumulate ? 1 : 0;
    const size_t workspace_bytes = plan.algorithm->workspaceSize;
    void* const workspace = workspace_for(product, device, workspace_bytes);
    const cublasStatus_t status =
        cublasLtMatmul(context_.get(), plan.description.get(), &alpha, p.b, plan.b.get(), p.a,
                       plan.a.get(), &beta, p.c, plan.c.get(), p.c, plan.c.get(),
                       &plan.algorithm->algo, workspace, workspace_bytes, stream_of(device));
    if (status != CUBLAS_STATUS_SUCCESS) cublas_check(status, describe(product));
    if (waits_for_each_launch()) wait_for_launch(stream_of(device), describe(product));
    return true;
  }

 private:
  static constexpr size_t kMostPlans = 1024;  // a model has some dozens for each length

  Plan& plan_of(const BlasProduct& product) {
    const Key key(product);
    if (const auto found = plans_.find(key); found != plans_.end()) return found->second;
    if (plans_.size() >= kMostPlans) plans_.clear();
    return plans_.try_emplace(key, context_.get(), key, product).first->second;
  }

  // As large as any product has needed so far. The memory of a smaller one may be given away while
  // the device still works in it: who gets it comes later in the same stream.
  void* workspace_for(const BlasProduct& product, Cuda device, size_t size_bytes) {
    if (size_bytes == 0) return nullptr;
    const auto size = static_cast<int64_t>(size_bytes);
    if (workspace_ && workspace_->size_bytes() >= size) return workspace_->data();
    workspace_.reset();
    try {
      workspace_.emplace(size, Device{Device::Kind::cuda, device.index});
    } catch (const BackendError& error) {
      throw BackendError(concat(error.what(), "; it was for work on a ", describe(product)));
    }
    return workspace_->data();
  }

  Context context_;
  std::mutex mutex_;
  std::map<Key, Plan> plans_;
  std::optional<Storage> workspace_;
};

}  // namespace

bool blas_product(Cuda device, const BlasProduct& product) {
  static auto* const all = new PerDevice<Blas>;  // never destroyed: the runtime may go before it
  Blas& blas = all->at(device.index, [] { return std::make_unique<Blas>(); });
  return blas.product(device, product);
}

std::string describe(const BlasProduct& product) {
  const Gemm& p = product.first;
  return concat("product of ", p.m, " x ", p.k, " and ", p.k, " x ", p.n, ", ", p.in, " to ", p.out,
                product.n_batch == 1 ? "" : concat(", ", product.n_batch, " times"));
}

}  // namespace farfield
