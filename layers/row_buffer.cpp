#include "layers/row_buffer.h"

#include <algorithm>

#include "engine/ops/view.h"

namespace farfield {

int64_t RowBuffer::size_for(int64_t n) const { return std::min(2 * n, std::max(n_max_, n)); }

void RowBuffer::move_to(int64_t n) {
  const Tensor old = storage_;
  storage_ = Tensor::empty(old.shape().with(2, n), old.dtype(), old.device());
  const int64_t behind = begin_ + gap_end_, end = behind + n_row_ - gap_begin_;
  write_slice(storage_, 2, 0, slice(old, 2, begin_, begin_ + gap_begin_));
  write_slice(storage_, 2, gap_begin_, slice(old, 2, behind, end));
  begin_ = gap_begin_ = gap_end_ = 0;
}

// The rows before the gap move behind it: they are few.
void RowBuffer::close_gap() {
  if (gap_begin_ > 0)
    write_slice(storage_, 2, begin_ + gap_end_ - gap_begin_,
                slice(storage_, 2, begin_, begin_ + gap_begin_).clone());
  begin_ += gap_end_ - gap_begin_;
  gap_begin_ = gap_end_ = 0;
}

void RowBuffer::append(const Tensor& x) {
  const int64_t needed = n_row_ + x.dim(2);
  if (!storage_.defined()) {
    storage_ = Tensor::empty(x.shape().with(2, size_for(needed)), x.dtype(), x.device());
  } else {
    close_gap();
    if (begin_ + needed > storage_.dim(2)) move_to(size_for(needed));
  }
  write_slice(storage_, 2, end(), x);
  n_row_ = needed;
}

void RowBuffer::repeat(int64_t n) {
  if (storage_.defined())
    storage_ = concat(std::vector<Tensor>(static_cast<size_t>(n), storage_), 0);
}

void RowBuffer::drop(int64_t n_first, int64_t from) {
  gap_begin_ = n_first;
  gap_end_ = from;
  n_row_ -= from - n_first;
  if (4 * n_row_ < storage_.dim(2)) move_to(2 * n_row_);
}

int64_t RowBuffer::size_bytes() const {
  return storage_.defined() ? storage_.size_bytes() / storage_.dim(2) * n_row_ : 0;
}

}  // namespace farfield
