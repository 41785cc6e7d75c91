#pragma once
// A list of arrays of any sizes as one launch: its blocks take a chunk each, and find it in a table
// that comes with the parameters of the kernel, so there is no upload and no wait.

#include <cstdint>

#include "engine/cuda/elements.cuh"

namespace farfield {

inline constexpr int64_t kChunk = 4096;  // elements
/// Bytes of kernel parameters that a table may use.
inline constexpr size_t kParameterBytes = 4096 - 128;

/// Arrays that a launch works on. Item says where one is and what is done to it.
template <class Item>
class Chunks {
  struct Row {
    Item item;
    int64_t size;
  };
  static constexpr int kMostRows =
      static_cast<int>((kParameterBytes - 16) / (sizeof(Row) + sizeof(unsigned)));

 public:
  bool is_full() const { return n_rows_ == kMostRows; }
  unsigned n_chunks() const { return n_chunks_; }

  /// An array of `size` elements, size > 0; not when it is full.
  void add(const Item& item, int64_t size) {
    rows_[n_rows_] = {item, size};
    n_chunks_ += static_cast<unsigned>((size + kChunk - 1) / kChunk);
    ends_[n_rows_++] = n_chunks_;
  }

  /// Calls f(item, piece) for the elements of this thread in the chunk of this block, kN at a time.
  /// are_aligned(item): whether the arrays begin where 16 bytes may be loaded at once.
  template <int kN, class AreAligned, class F>
  __device__ void for_each_piece(const AreAligned& are_aligned, const F& f) const {
    static_assert(kChunk % (kThreads * kN) == 0);
    int low = 0, high = n_rows_ - 1;  // the first row that ends after the chunk
    while (low < high) {
      const int middle = (low + high) / 2;
      if (ends_[middle] > blockIdx.x)
        high = middle;
      else
        low = middle + 1;
    }
    const Row& row = rows_[low];
    const bool is_aligned = are_aligned(row.item);
    const int64_t chunk = blockIdx.x - (low == 0 ? 0u : ends_[low - 1]);
    for (int i = 0; i < static_cast<int>(kChunk / (kThreads * kN)); ++i) {
      const int64_t begin =
          chunk * kChunk + (static_cast<int64_t>(i) * kThreads + threadIdx.x) * kN;
      const int64_t left = row.size - begin;
      const int own = left <= 0 ? 0 : left < kN ? static_cast<int>(left) : kN;
      f(row.item, Piece<kN>{begin, own, is_aligned && own == kN});
    }
  }

 private:
  Row rows_[kMostRows];
  unsigned ends_[kMostRows];  // of the chunks of a row, counted through all rows
  int n_rows_ = 0;
  unsigned n_chunks_ = 0;
};

/// Calls run(chunks) with all arrays that add() puts in, as many at a time as a launch takes.
/// for_each(add): add(item, size) for each of them, in order.
template <class Item, class ForEach, class Run>
void in_chunks(const ForEach& for_each, const Run& run) {
  static_assert(sizeof(Chunks<Item>) <= kParameterBytes);
  Chunks<Item> chunks;
  const auto flush = [&] {
    if (chunks.n_chunks() > 0) run(chunks);
    chunks = {};
  };
  for_each([&](const Item& item, int64_t size) {
    if (size == 0) return;
    if (chunks.is_full()) flush();
    chunks.add(item, size);
  });
  flush();
}

}  // namespace farfield
