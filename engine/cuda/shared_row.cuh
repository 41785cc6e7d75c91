#pragma once
// Rows that are too long for registers and are kept in dynamic shared memory instead, so that they
// are read from device memory once however often they are looked at.

#include <cstddef>
#include <type_traits>
#include <utility>

#include "engine/cuda/copy_async.cuh"
#include "engine/cuda/row.cuh"
#include "engine/cuda/shared.cuh"

namespace farfield {

/// For a row that is too long for registers, of a block that has shared memory for all of it. The
/// same elements fall to the same thread as without, so sums have the same bits.
template <bool kIsAligned_>
struct SharedRowSize : RowSize<1024, 0> {
  static constexpr bool kIsAligned = kIsAligned_;
};

template <class Size>
inline constexpr bool kIsSharedRow = false;
template <bool kIsAligned>
inline constexpr bool kIsSharedRow<SharedRowSize<kIsAligned>> = true;

/// f(size, shared_bytes) for rows of n elements T, in pieces of kN, that are read more than once.
/// size: SharedRowSize if rows are too long for registers and fit into a block's shared memory,
/// else as in dispatch_row_size(n, f). shared_bytes: dynamic shared memory for the launch.
template <class T, int kN, class F>
void dispatch_row_size(Cuda device, int64_t n, bool is_aligned, const F& f) {
  dispatch_row_size(n, [&](auto size) {
    if constexpr (decltype(size)::kValues == 0) {
      const size_t kept_bytes = static_cast<size_t>((n + kN - 1) / kN) * sizeof(Vector<T, kN>);
      constexpr size_t kRowSumBytes = sizeof(WarpResults<float, 1>);
      if (kept_bytes + kRowSumBytes <= most_shared_bytes(device)) {
        if (is_aligned)
          f(SharedRowSize<true>{}, kept_bytes);
        else
          f(SharedRowSize<false>{}, kept_bytes);
        return;
      }
    }
    f(size, size_t{0});
  });
}

/// A Row whose elements lie in shared memory as they do in device memory; value_of(piece, elements)
/// gives their values at each read. A thread copies, waits for and reads its own pieces only, so
/// there is no barrier. Pieces of neighbouring threads are neighbours, so that a warp has no bank
/// conflicts.
template <class Pieces_, class T, class ValueOf>
class SharedRow {
 public:
  using Pieces = Pieces_;
  using Piece = typename Pieces::Piece;

  /// Begins to copy all of the row, in groups: the first are looked at while others are on their
  /// way.
  __device__ SharedRow(const Pieces& pieces, const T* from, const ValueOf& value_of)
      : pieces_(pieces), value_of_(value_of) {
    for (int group = 0; group < kGroups; ++group) {
      for_each_of(group, [&](int, const Piece& piece) {
        if (piece.is_whole)
          copy_async<sizeof(Kept)>(&kept(piece), from + piece.begin, true);
        else if constexpr (!Pieces::kIsAligned)
          kept(piece) = load(from, piece);
      });
      end_copy_group();
    }
  }

  /// f(p, piece, its values) for each piece that has elements.
  template <class F>
  __device__ void for_each(const F& f) const {
    for (int group = 0; group < n_groups(); ++group) {
      wait_for_group(group);
      for_each_of(group,
                  [&](int p, const Piece& piece) { f(p, piece, value_of_(piece, kept(piece))); });
    }
  }

 private:
  static constexpr int kGroups = 4;
  static constexpr int kRound = Pieces::Size::kThreads * Pieces::kN;  // a piece of each thread
  using Kept = Vector<T, Pieces::kN>;

  // Pieces of a thread in a group, and groups that have some: a number that the compiler does not
  // know, so that it writes f once.
  __device__ int in_group() const {
    return (pieces_.n + kGroups * kRound - 1) / (kGroups * kRound);
  }
  __device__ int n_groups() const {
    const int size = in_group() * kRound;
    return (pieces_.n + size - 1) / size;
  }
  // As steps, each of which holds the one before: nvcc would make a choice a jump to an address.
  __device__ static void wait_for_group(int group) {
    static_assert(kGroups == 4);
    wait_for_copy_groups<3>();
    if (group >= 1) wait_for_copy_groups<2>();
    if (group >= 2) wait_for_copy_groups<1>();
    if (group >= 3) wait_for_copy_groups<0>();
  }
  __device__ Kept& kept(const Piece& piece) const {
    return *reinterpret_cast<Kept*>(dynamic_shared<T>() + piece.begin);
  }
  template <class F>
  __device__ void for_each_of(int group, const F& f) const {
    for (int p = group * in_group(), end = p + in_group(); p < end; ++p) {
      const Piece piece = pieces_.piece(p);
      if (!piece.has(0)) return;
      f(p, piece);
    }
  }

  Pieces pieces_;
  ValueOf value_of_;
};

}  // namespace farfield
