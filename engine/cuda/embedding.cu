#include <limits>

#include "engine/cuda/check.h"
#include "engine/cuda/context.h"
#include "engine/cuda/elements.cuh"
#include "engine/cuda/warp.cuh"
#include "engine/kernels/embedding.h"
#include "engine/kernels/pointwise.h"

namespace farfield {
namespace {

// A thread converts a piece of a row; the table begins with the row of id `first`.
template <class From, class To>
__global__ void gather_kernel(int64_t n_ids, int64_t n_own, int64_t d, int64_t first, int64_t n_row,
                              bool is_aligned, const From* table, const int* ids, To* y) {
  constexpr int kN = kPieceSize<From, To>;
  const int64_t pieces = (d + kN - 1) / kN;
  const int64_t i = thread_index() / pieces, begin = thread_index() % pieces * kN;
  if (i >= n_ids) return;
  const int own = d - begin < kN ? static_cast<int>(d - begin) : kN;
  const Piece<kN> piece{begin, own, is_aligned && own == kN};
  const int64_t id = ids[i], row = id - first;
  Vector<To, kN> out{};
  if (row >= 0 && row < n_own) {
    const Vector<From, kN> in = load(table + row * d, piece);
    for (int k = 0; k < kN; ++k) out.at[k] = narrow<To>(widen(in.at[k]));
  } else if (id < 0 || id >= n_row) {
    for (int k = 0; k < kN; ++k) out.at[k] = narrow<To>(std::numeric_limits<float>::quiet_NaN());
  }
  store(out, piece, y + i * d);
}

// next[i] = the first j > i with ids[j] = ids[i], or n; is_later[j] = 1 for each such j. A warp
// looks for it, 32 ids at a time.
__global__ void link_equal_ids_kernel(int n, const int* ids, int* next, int* is_later) {
  const auto i = static_cast<int>(thread_index() / kWarp);
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  if (i >= n) return;
  const int id = ids[i];
  int found = n;
  for (int begin = i + 1; begin < n && found == n; begin += kWarp) {
    const int j = begin + lane;
    const bool is_equal = j < n && ids[j] == id;
    const unsigned equal = __ballot_sync(kAllLanes, is_equal);
    if (equal != 0) found = begin + __ffs(static_cast<int>(equal)) - 1;
  }
  if (lane > 0) return;
  next[i] = found;
  if (found < n) is_later[found] = 1;
}

// A thread sums one column over the positions of one id, in their order, from the first on.
template <class From, class To>
__global__ void sum_equal_ids_kernel(int n, int64_t n_row, int64_t d, int64_t first, const int* ids,
                                     const int* next, const int* is_later, const From* dy,
                                     To* dtable) {
  const int64_t i = thread_index() / d, column = thread_index() % d;
  if (i >= n || is_later[i]) return;
  const int64_t row = ids[i] - first;
  if (row < 0 || row >= n_row) return;
  decltype(Accumulate<From>{} + Accumulate<To>{}) total = 0;
  for (int64_t j = i; j < n; j = next[j]) total += widen(dy[j * d + column]);
  dtable[row * d + column] = narrow<To>(total);
}

}  // namespace

void embedding_forward(Cuda device, const Tensor& table, int64_t first, int64_t n_row,
                       const Tensor& ids, Tensor& y) {
  if (y.numel() == 0) return;
  const int64_t d = table.dim(1);
  dispatch_float(table.dtype(), [&](auto from_type) {
    dispatch_float(y.dtype(), [&](auto to_type) {
      using From = decltype(from_type);
      using To = decltype(to_type);
      constexpr int kN = kPieceSize<From, To>;
      const From* const from = table.data<From>();
      To* const to = y.data<To>();
      launch(gather_kernel<From, To>, blocks_for(ids.numel() * ((d + kN - 1) / kN)), kThreads, 0,
             stream_of(device), ids.numel(), table.dim(0), d, first, n_row,
             is_aligned(from, to) && d % kN == 0, from, ids.data<int32_t>(), to);
    });
  });
}

void embedding_backward(Cuda device, int64_t first, const Tensor& ids, const Tensor& dy,
                        Tensor& dtable) {
  fill(device, 0, dtable);
  if (dy.numel() == 0) return;
  const int64_t d = dtable.dim(1);
  const auto n = static_cast<int>(ids.numel());
  const int* const id = ids.data<int32_t>();
  Tensor next = Tensor::empty(ids.shape(), DType::i32, ids.device());
  Tensor is_later = Tensor::zeros(ids.shape(), DType::i32, ids.device());
  launch(link_equal_ids_kernel, blocks_for(ids.numel() * kWarp), kThreads, 0, stream_of(device), n,
         id, next.data<int32_t>(), is_later.data<int32_t>());
  dispatch_float(dy.dtype(), [&](auto from_type) {
    dispatch_float(dtable.dtype(), [&](auto to_type) {
      using From = decltype(from_type);
      using To = decltype(to_type);
      launch(sum_equal_ids_kernel<From, To>, blocks_for(dy.numel()), kThreads, 0, stream_of(device),
             n, dtable.dim(0), d, first, id, next.data<int32_t>(), is_later.data<int32_t>(),
             dy.data<From>(), dtable.data<To>());
    });
  });
}

}  // namespace farfield
