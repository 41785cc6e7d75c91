#pragma once
// Rows of a matrix [rows, n], each taken by the threads of a warp or of a block: read once and kept
// in registers where it fits; in shared memory where that does, by shared_row.cuh.

#include <algorithm>
#include <type_traits>
#include <utility>

#include "engine/cuda/block.cuh"
#include "engine/cuda/elements.cuh"

namespace farfield {

/// kThreads threads take a row; each keeps up to kValues of its elements. None are kept when
/// kValues is 0: such a row may have any length and is loaded each time it is looked at, or kept in
/// shared memory (shared_row.cuh).
template <int kThreads_, int kValues_>
struct RowSize {
  static constexpr int kThreads = kThreads_, kValues = kValues_;
  static constexpr bool kIsAligned = false;  ///< whether its RowPieces are
  static constexpr int kBlock = std::max(kThreads, 128);
  static constexpr int kRows = kBlock / kThreads;  ///< of a block at a time
};

/// f(size) with the RowSize for rows of n elements. By the length alone, which therefore fixes the
/// order of sums.
template <class F>
void dispatch_row_size(int64_t n, const F& f) {
  if (n <= 32 * 8)
    f(RowSize<32, 8>{});
  else if (n <= 32 * 24)
    f(RowSize<32, 24>{});
  else if (n <= 128 * 16)
    f(RowSize<128, 16>{});
  else if (n <= 512 * 16)
    f(RowSize<512, 16>{});
  else
    f(RowSize<1024, 0>{});
}

/// The blocks that take n_rows rows, each once.
template <class Size>
dim3 blocks_for_rows(int64_t n_rows) {
  return static_cast<unsigned>((n_rows + Size::kRows - 1) / Size::kRows);
}

/// The row of this thread if each row is taken once. A thread beyond the last row has nothing to do
/// and no other thread waits for it, since its whole warp has no row.
template <class Size>
__device__ int64_t this_row() {
  return static_cast<int64_t>(blockIdx.x) * Size::kRows + threadIdx.x / Size::kThreads;
}

/// Sums over the threads of a row, in each of them.
template <class Size, int kN>
__device__ void row_sum(float (&values)[kN]) {
  if constexpr (Size::kThreads == kWarp)
    for (int k = 0; k < kN; ++k) values[k] = warp_sum(values[k]);
  else
    block_sum(values);
}
template <class Size>
__device__ float row_sum(float value) {
  float values[1] = {value};
  row_sum<Size>(values);
  return values[0];
}

/// The largest value of the threads of a row, in each of them. None may be NaN.
template <class Size>
__device__ float row_max(float value) {
  if constexpr (Size::kThreads == kWarp)
    return warp_max(value);
  else
    return block_max(value);
}

/// The elements of a row that a thread takes: of its pieces of kN each kThreads-th. kIsAligned:
/// rows are known to begin where 16 bytes may be loaded at once and to hold whole pieces alone.
template <class Size_, int kN_, bool kIsAligned_ = false>
struct RowPieces {
  using Size = Size_;
  static constexpr int kN = kN_;
  static constexpr bool kIsAligned = kIsAligned_;
  static_assert(Size::kValues % kN == 0);
  using Piece = farfield::Piece<kN, kIsAligned>;

  int n;
  bool is_aligned = kIsAligned;

  __device__ Piece piece(int p) const {
    const int thread = static_cast<int>(threadIdx.x) % Size::kThreads;
    if constexpr (kIsAligned) {
      // In 64 bits, so that pieces of a thread differ by a number that an address may hold.
      const int64_t begin = int64_t{p} * (Size::kThreads * kN) + int64_t{thread} * kN;
      return {begin, begin < n};
    } else {
      const int begin = (p * Size::kThreads + thread) * kN, left = n - begin;
      const int own = left <= 0 ? 0 : left < kN ? left : kN;
      return {begin, own, is_aligned && own == kN};
    }
  }

  /// f(p, piece) for each of them.
  template <class F>
  __device__ void for_each(const F& f) const {
    if constexpr (Size::kValues > 0)
      // written out, not a loop: what is kept must have an index that the compiler knows
      [&]<int... kP>(std::integer_sequence<int, kP...>) { (f(kP, piece(kP)), ...); }
    (std::make_integer_sequence<int, Size::kValues / kN>{});
    else for (int p = 0; p * Size::kThreads * kN < n; ++p) f(p, piece(p));
  }
};

/// The results of load(piece) for each piece of a row: kept, or loaded again at each use.
template <class Size, int kN, class Load, bool kIsAligned = false>
class Row {
 public:
  using Pieces = RowPieces<Size, kN, kIsAligned>;
  using Piece = typename Pieces::Piece;
  using Values = std::invoke_result_t<Load, const Piece&>;

  __device__ Row(const Pieces& pieces, const Load& load) : pieces_(pieces), load_(load) {
    if constexpr (Size::kValues > 0)
      pieces_.for_each([&](int p, const Piece& piece) { kept_[p] = load_(piece); });
  }

  /// f(p, piece, its values) for each piece.
  template <class F>
  __device__ void for_each(const F& f) const {
    pieces_.for_each([&](int p, const Piece& piece) {
      if constexpr (Size::kValues > 0)
        f(p, piece, kept_[p]);
      else
        f(p, piece, load_(piece));
    });
  }

 private:
  Pieces pieces_;
  Load load_;
  Values kept_[std::max(1, Size::kValues / kN)];
};

template <class Size, int kN, bool kIsAligned, class Load>
Row(const RowPieces<Size, kN, kIsAligned>&, const Load&) -> Row<Size, kN, Load, kIsAligned>;

}  // namespace farfield
