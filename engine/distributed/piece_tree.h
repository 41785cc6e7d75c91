#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace farfield {

/// The order in which micro-batches (pieces) are summed, as a binary tree: the sum of n pieces is
/// the sum of the first n / 2 plus the sum of the others. A tree consists of the trees of its
/// halves. So if a power of two of processes has equal parts of the pieces, the processes add the
/// upper levels among themselves, and get the same bits as one process with all pieces.
///
/// Pieces that come one after the other are summed with a stack: after piece i, n_closed(i) sums
/// are taken from the stack and added to the piece's sum, the latest first. The result goes onto
/// the stack unless i is the last piece.
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
