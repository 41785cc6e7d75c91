#pragma once

#include "engine/tensor.h"

namespace farfield {

/// The rows [B, H, n, K] of heads, to which later rows are added in place: each head has room for
/// as many again, so that on average a row is copied twice at most.
class RowBuffer {
 public:
  /// No rows; there will never be more than `n_max` at a time.
  explicit RowBuffer(int64_t n_max) : n_max_(n_max) {}

  /// Adds rows x [B, H, n, K] behind the others.
  void append(const Tensor& x);
  /// Makes B = 1 the same rows n times, in a storage of their own.
  void repeat(int64_t n);
  /// Drops the rows n_first .. from - 1. What storage() was before stays as it is until append().
  void drop(int64_t n_first, int64_t from);

  /// Bytes of the rows, without the room.
  int64_t size_bytes() const;
  /// After append(): [B, H, N, K], in which the rows of each head are begin() .. end() - 1.
  const Tensor& storage() const { return storage_; }
  int64_t begin() const { return begin_; }
  int64_t end() const { return begin_ + n_row_; }

 private:
  /// Rows of a new storage for n rows that are needed.
  int64_t size_for(int64_t n) const;
  /// Copies the rows to the front of a new storage of n rows for each head.
  void move_to(int64_t n);
  void close_gap();

  int64_t n_max_, begin_ = 0, n_row_ = 0;
  // Dropped rows that are still in the storage, counted from begin_: gap_begin_ .. gap_end_ - 1.
  int64_t gap_begin_ = 0, gap_end_ = 0;
  Tensor storage_;
};

}  // namespace farfield
