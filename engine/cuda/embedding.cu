#include <limits>

#include "engine/cuda/check.h"
#include "engine/cuda/context.h"
#include "engine/cuda/elements.cuh"
#include "engine/cuda/positions_of_ids.h"
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

// A thread sums a piece of a row over the positions of one id, in their order, from the first on.
template <class From, class To>
__global__ void sum_equal_ids_kernel(int64_t n_ids, int64_t d, int64_t first, bool is_aligned,
                                     const int* ids, const int* slot, const int* order,
                                     const int* begin, const int* size, const From* dy,
                                     To* dtable) {
  constexpr int kN = kPieceSize<From, To>;
  const int64_t pieces = (d + kN - 1) / kN;
  const int64_t i = thread_index() / pieces, column = thread_index() % pieces * kN;
  if (i >= n_ids || slot[i] != 0) return;
  const int own = d - column < kN ? static_cast<int>(d - column) : kN;
  const Piece<kN> piece{column, own, is_aligned && own == kN};
  const int64_t row = ids[i] - first;
  const int* const positions = order + begin[row];
  decltype(Accumulate<From>{} + Accumulate<To>{}) total[kN] = {};
  const int n = size[row];
#pragma unroll 4
  for (int j = 0; j < n; ++j) {
    const Vector<From, kN> in = load(dy + positions[j] * d, piece);
    for (int k = 0; k < kN; ++k) total[k] += widen(in.at[k]);
  }
  Vector<To, kN> out;
  for (int k = 0; k < kN; ++k) out.at[k] = narrow<To>(total[k]);
  store(out, piece, dtable + row * d);
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
  const PositionsOfIds at = positions_of_ids(device, first, dtable.dim(0), ids);
  dispatch_float(dy.dtype(), [&](auto from_type) {
    dispatch_float(dtable.dtype(), [&](auto to_type) {
      using From = decltype(from_type);
      using To = decltype(to_type);
      constexpr int kN = kPieceSize<From, To>;
      const From* const from = dy.data<From>();
      To* const to = dtable.data<To>();
      launch(sum_equal_ids_kernel<From, To>, blocks_for(ids.numel() * ((d + kN - 1) / kN)),
             kThreads, 0, stream_of(device), ids.numel(), d, first,
             is_aligned(from, to) && d % kN == 0, ids.data<int32_t>(), at.slot.data<int32_t>(),
             at.order.data<int32_t>(), at.begin.data<int32_t>(), at.size.data<int32_t>(), from, to);
    });
  });
}

}  // namespace farfield
