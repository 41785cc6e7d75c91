#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace farfield {

/// The order in which what comes in pieces is summed, as a binary tree over the pieces: the sum of
/// n is that of the first n / 2 and that of the others. A tree is made of the trees of its halves,
/// so processes that have a power of two of equal parts of the pieces add the upper levels among
/// themselves, and all come to the same bits as one process that has all of them.
///
/// What comes one after the other is summed with a stack: after piece i, n_closed(i) sums are taken
/// from it and added to that of the piece, the latest first, and the sum is put on it unless i is
/// the last.
class PieceTree {
 public:
  explicit PieceTree(int64_t n) : n_closed_(static_cast<size_t>(n)) { close(0, n); }

  int64_t size() const { return static_cast<int64_t>(n_closed_.size()); }
  bool is_last(int64_t i) const { return i + 1 == size(); }
  int64_t n_closed(int64_t i) const { return n_closed_[static_cast<size_t>(i)]; }

 private:
  void close(int64_t first, int64_t n) {
    if (n == 1) return;
    close(first, n / 2);
    close(first + n / 2, n - n / 2);
    ++n_closed_[static_cast<size_t>(first + n - 1)];
  }

  std::vector<int64_t> n_closed_;
};

}  // namespace farfield
