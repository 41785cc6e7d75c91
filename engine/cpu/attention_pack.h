#pragma once
// Rows of q, k, v and dout as the tile products want them: in units, padded with zeros to whole
// vectors, transposed where they are the right-hand side of a score; or where they are stored.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "engine/cpu/attention_tile.h"
#include "engine/cpu/pack.h"
#include "engine/dtype.h"
#include "engine/storage.h"

namespace farfield::attention_cpu {

/// Working memory of one unit of parallel work: one block of the caching allocator, handed out in
/// pieces.
class Scratch {
 public:
  explicit Scratch(int64_t size_bytes) : storage_(size_bytes + kSlack, Device{}) {}
  static constexpr int64_t kSlack = 32 * 64;  ///< room for rounding up to 32 pieces

  /// n elements, 64-byte aligned, not initialised.
  template <class A>
  A* take(int64_t n) {
    A* const piece = reinterpret_cast<A*>(static_cast<char*>(storage_.data()) + used_);
    used_ += round_up(n * static_cast<int64_t>(sizeof(A)), 64);
    require<BackendError>(used_ <= storage_.size_bytes(), "attention", "scratch of ",
                          storage_.size_bytes(), " bytes is too small");
    return piece;
  }

 private:
  Storage storage_;
  int64_t used_ = 0;
};

template <class A>
struct Rows {
  const A* data = nullptr;
  int64_t stride = 0;
  const A* row(int64_t i) const { return data + i * stride; }
};

/// Elements of T can be used in place: no widening and no padding is needed.
template <class T>
constexpr bool usable_in_place(int64_t head_dim) {
  return std::is_same_v<T, Accumulate<T>> && head_dim % kLanes<Accumulate<T>> == 0;
}

/// to[i, 0 .. width) = from[i, 0 .. head_dim), then zeros.
template <class T, class A>
void pack_rows(const T* from, int64_t stride, int64_t rows, int64_t head_dim, int64_t width,
               A* to) {
  for (int64_t i = 0; i < rows; ++i, from += stride, to += width) {
    for (int64_t x = 0; x < head_dim; ++x) to[x] = static_cast<A>(from[x]);
    std::fill(to + head_dim, to + width, A{0});
  }
}

/// Rows in place when that is possible and they lie side by side, else packed into `buffer` of rows
/// * width.
template <class T, class A>
Rows<A> rows_of(const T* from, int64_t stride, int64_t rows, int64_t head_dim, int64_t width,
                A* buffer) {
  if constexpr (std::is_same_v<T, A>)
    if (usable_in_place<T>(head_dim) && stride == head_dim) return {from, stride};
  pack_rows(from, stride, rows, head_dim, width, buffer);
  return {buffer, width};
}

/// The left-hand side of a score: rows along head_dim, in units, without padding where they can be
/// used in place, else packed into `buffer` of rows * width.
template <class Terms, class T>
Rows<typename Terms::Unit> score_rows(const T* from, int64_t stride, int64_t rows, int64_t head_dim,
                                      int64_t width, typename Terms::Unit* buffer) {
  using Unit = typename Terms::Unit;
  const Operand<T> operand{from, stride, true, head_dim};
  if (lanes::rows_are_units<Terms>(operand))
    return {reinterpret_cast<const Unit*>(from), stride / Terms::kElements};
  if constexpr (Terms::kElements == 1) {
    return rows_of(from, stride, rows, head_dim, width, buffer);
  } else {
    const int64_t depth = units_of<Terms>(head_dim);
    lanes::pack_rows<Terms>(operand, 0, rows, 0, depth, buffer, depth);
    return {buffer, depth};
  }
}

/// Units of working memory that columns_of() wants.
template <class Terms>
constexpr int64_t columns_size(int64_t rows, int64_t width) {
  if constexpr (Terms::kElements == 1) return rows * width;
  return units_of<Terms>(rows) * round_up(width, kBlockCols<typename Terms::Sum>);
}

/// The right-hand side of a product over the rows, in units along them: in place when that is
/// possible, else packed into `buffer` of columns_size.
template <class Terms, class T>
Columns<typename Terms::Unit> columns_of(const T* from, int64_t stride, int64_t rows,
                                         int64_t head_dim, int64_t width,
                                         typename Terms::Unit* buffer) {
  constexpr int64_t kCols = kBlockCols<typename Terms::Sum>;
  if constexpr (Terms::kElements == 1) {
    const auto same = rows_of(from, stride, rows, head_dim, width, buffer);
    return {same.data, same.stride, kCols};
  } else {
    const int64_t depth = units_of<Terms>(rows);
    PackedBlocks<Terms, kCols, T>::pack({from, stride, false, rows}, 0, head_dim, 0, depth, buffer);
    return {buffer, kCols, depth * kCols};
  }
}

/// The right-hand side: blocks of kBlockCols rows; block b holds row b * kBlockCols + l, unit x at
/// to[(b * depth + x) * kBlockCols + l]. Missing rows are zeros.
template <class Terms, class T>
void pack_keys(const T* from, int64_t stride, int64_t rows, int64_t head_dim,
               typename Terms::Unit* to) {
  PackedBlocks<Terms, kBlockCols<typename Terms::Sum>, T>::pack(
      {from, stride, true, head_dim}, 0, rows, 0, units_of<Terms>(head_dim), to);
}

}  // namespace farfield::attention_cpu
