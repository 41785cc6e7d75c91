#pragma once
// The inputs of the backward pass of layer norm: the rows of a block, one after the other.

#include <algorithm>
#include <type_traits>

#include "engine/cuda/copy_async.cuh"
#include "engine/cuda/row.cuh"

namespace farfield::norm_cuda {

template <class T>
struct Backward {
  int64_t rows, rows_of_block;
  int d;
  const T* s;
  const float* weight;
  const float* mean;  // null: it counts as 0
  const float* rstd;
  const T* dy;
  const T* dsum;  // null: none
  T* ds;
  float* partial;  // [blocks, n_sum, d]: of each block's rows, the sums of dy n, dy and maybe ds
  bool sums_ds;

  FARFIELD_HD int n_sum() const { return sums_ds ? 3 : 2; }
};

/// Values of a row that are read twice, as narrow as stored: registers decide how many warps work
/// at once.
template <class T, int kN>
struct Kept {
  Vector<T, kN> s, dy;
};

/// The sums of the warps of a block, [warp, 2, column].
template <class Size>
struct WarpColumns {
  float at[Size::kRows][2][Size::kThreads * Size::kValues];
};

/// The sums of ds that the threads of each row have, [row of the block, column]: in the shared
/// memory that a launch gives, where these sums are made and rows are kept.
template <class Size>
struct SumsOfDs {
  float at[Size::kRows][std::max(1, Size::kThreads* Size::kValues)];
};

/// Shared memory of a block: s, dy and dsum of two rows for each warp, or for the block; one row is
/// computed while the other is loaded.
template <class T, class Size>
struct RowsAhead {
  static constexpr int kN = Size::kThreads * Size::kValues;
  float weight[kN];
  T rows[Size::kRows][2][3][kN];
};
template <class T, class Size>
union RowsThenColumns {
  RowsAhead<T, Size> rows;
  WarpColumns<Size> columns;
};
/// Where four blocks find room on a multiprocessor of sm_80, which has 164 KiB and keeps one for
/// each.
template <class T, class Size>
constexpr bool goes_ahead() {
  if constexpr (Size::kValues == 0)
    return false;
  else
    return sizeof(RowsThenColumns<T, Size>) <= size_t{40} << 10;
}

/// Rows as they lie in memory; s and dy are kept in registers where a row fits.
template <class T, class Size, bool kIsAligned>
class RowsInPlace {
 public:
  static constexpr int kN = kPieceSize<T>;
  using Pieces = RowPieces<Size, kN, kIsAligned>;
  using Piece = typename Pieces::Piece;

  __device__ RowsInPlace(const Backward<T>& in, const Pieces& pieces, int64_t /*first*/,
                         int64_t /*end*/)
      : in_(in), pieces_(pieces) {}

  /// Row i is asked for from here on.
  __device__ void take(int64_t i) {
    i_ = i;
    at_ = i * in_.d;
    if constexpr (kKeeps)
      pieces_.for_each([&](int p, const Piece& piece) { kept_[p] = loaded(piece); });
  }
  __device__ float mean() const { return in_.mean != nullptr ? in_.mean[i_] : 0; }
  __device__ float rstd() const { return in_.rstd[i_]; }
  __device__ Kept<T, kN> kept(int p, const Piece& piece) const {
    if constexpr (kKeeps)
      return kept_[p];
    else
      return loaded(piece);
  }
  /// Whether to skip the piece: cheaper than zeros in registers for missing elements.
  __device__ bool skips(const Piece& piece) const { return kIsAligned && !piece.is_whole; }
  __device__ Vector<T, kN> dsum(const Piece& piece) const {
    return in_.dsum != nullptr ? load(in_.dsum + at_, piece) : Vector<T, kN>{};
  }
  __device__ Vector<float, kN> weight(const Piece& piece) const { return load(in_.weight, piece); }
  __device__ WarpColumns<Size>& columns() const { return shared<WarpColumns<Size>>(); }

 private:
  static constexpr bool kKeeps = Size::kValues > 0;
  __device__ Kept<T, kN> loaded(const Piece& piece) const {
    return {load(in_.s + at_, piece), load(in_.dy + at_, piece)};
  }

  const Backward<T>& in_;
  Pieces pieces_;
  int64_t i_ = 0, at_ = 0;
  Kept<T, kN> kept_[kKeeps ? Size::kValues / kN : 1];
};

/// Rows of which the next is on its way to shared memory. Each thread copies, and waits for, its
/// own pieces alone.
template <class T, class Size>
class RowsOnTheirWay {
 public:
  static constexpr int kN = kPieceSize<T>;
  using Pieces = RowPieces<Size, kN, true>;
  using Piece = typename Pieces::Piece;

  __device__ RowsOnTheirWay(const Backward<T>& in, const Pieces& pieces, int64_t first, int64_t end)
      : in_(in), pieces_(pieces), end_(end), ahead_(shared<RowsThenColumns<T, Size>>().rows) {
    for (int i = static_cast<int>(threadIdx.x); i < RowsAhead<T, Size>::kN; i += Size::kBlock)
      ahead_.weight[i] = i < in.d ? in.weight[i] : 0;
    if (first < end) fetch(first, 0);
    __syncthreads();
  }

  __device__ void take(int64_t i) {
    wait_for_copies();
    now_ = next_;
    if (i + Size::kRows < end_) fetch(i + Size::kRows, 1 - now_.stage);
  }
  __device__ float mean() const { return now_.mean; }
  __device__ float rstd() const { return now_.rstd; }
  __device__ Kept<T, kN> kept(int, const Piece& piece) const {
    return {at<0>(piece), at<1>(piece)};
  }
  __device__ static constexpr bool skips(const Piece&) { return false; }
  __device__ Vector<T, kN> dsum(const Piece& piece) const { return at<2>(piece); }
  __device__ Vector<float, kN> weight(const Piece& piece) const {
    return *reinterpret_cast<const Vector<float, kN>*>(ahead_.weight + piece.begin);
  }
  /// In the place of the rows, when all have been computed; asked for by all threads of the block.
  __device__ WarpColumns<Size>& columns() const {
    __syncthreads();
    return shared<RowsThenColumns<T, Size>>().columns;
  }

 private:
  __device__ auto& stage(int which) const {
    return ahead_.rows[threadIdx.x / Size::kThreads][which];
  }
  template <int kWhich>
  __device__ Vector<T, kN> at(const Piece& piece) const {
    return *reinterpret_cast<const Vector<T, kN>*>(stage(now_.stage)[kWhich] + piece.begin);
  }
  // Zeros beyond the row.
  __device__ void fetch(int64_t i, int which) {
    next_ = {which, in_.mean != nullptr ? in_.mean[i] : 0, in_.rstd[i]};
    const int64_t row = i * in_.d;
    auto& to = stage(which);
    pieces_.for_each([&](int, const Piece& piece) {
      const int64_t from = row + piece.begin;
      copy_async<16>(to[0] + piece.begin, in_.s + from, piece.is_whole);
      copy_async<16>(to[1] + piece.begin, in_.dy + from, piece.is_whole);
      copy_async<16>(to[2] + piece.begin, in_.dsum + from, piece.is_whole && in_.dsum != nullptr);
    });
  }

  const Backward<T>& in_;
  Pieces pieces_;
  int64_t end_;
  RowsAhead<T, Size>& ahead_;
  struct Taken {
    int stage;
    float mean, rstd;
  };
  Taken now_{}, next_{};
};

/// How the rows of a block come to its threads.
template <class T, class Size, bool kIsAligned>
using Rows = std::conditional_t<kIsAligned && goes_ahead<T, Size>(), RowsOnTheirWay<T, Size>,
                                RowsInPlace<T, Size, kIsAligned>>;

}  // namespace farfield::norm_cuda
