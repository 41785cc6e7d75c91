#include "engine/kernels/gemm.h"

#include <algorithm>

#include "engine/cuda/blas.h"
#include "engine/cuda/check.h"
#include "engine/cuda/context.h"
#include "engine/cuda/launch.h"

namespace farfield {
namespace {

// Products of a batch are a dimension of the grid, which ends here.
constexpr int64_t kMostProducts = 65535;

template <class Pointer>
Pointer moved(Pointer base, int64_t elements, DType dtype) {
  using Byte =
      std::conditional_t<std::is_const_v<std::remove_pointer_t<Pointer>>, const char, char>;
  return static_cast<Byte*>(base) + elements * size_of(dtype);
}

// C of a product over nothing.
void clear(Cuda device, const Gemm& p) {
  if (p.accumulate) return;
  const auto bytes = [&](int64_t n) { return static_cast<size_t>(n * size_of(p.out)); };
  cuda_check(cudaMemset2DAsync(p.c, bytes(p.ldc), 0, bytes(p.n), static_cast<size_t>(p.m),
                               stream_of(device)),
             "clearing of ", p.m, " x ", p.n, " elements");
  wait_if_asked(stream_of(device), "clearing of ", p.m, " x ", p.n, " elements");
}

}  // namespace

void gemm(Cuda device, const Gemm& product) { gemm_batched(device, product, 1, 0, 0, 0); }

void gemm_batched(Cuda device, const Gemm& first, int64_t n_batch, int64_t stride_a,
                  int64_t stride_b, int64_t stride_c) {
  require_device_float(first.in);
  if (first.m == 0 || first.n == 0) return;
  BlasProduct part{first, 1, stride_a, stride_b, stride_c};
  for (int64_t i = 0; i < n_batch; i += part.n_batch) {
    part.first.a = moved(first.a, i * stride_a, first.in);
    part.first.b = moved(first.b, i * stride_b, first.in);
    part.first.c = moved(first.c, i * stride_c, first.out);
    part.n_batch = first.k == 0 ? 1 : std::min(kMostProducts, n_batch - i);
    if (first.k == 0)
      clear(device, part.first);
    else
      require<BackendError>(blas_product(device, part), "cuda", describe(part),
                            ": expected an algorithm of cuBLASLt, got none");
  }
}

}  // namespace farfield
