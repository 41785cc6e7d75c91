#include "engine/distributed/tree_sum.h"

#include <iterator>

#include "engine/autograd.h"
#include "engine/kernels.h"
#include "engine/ops/pointwise.h"

namespace farfield {
namespace {

// lefts[n - 1] + (... + (lefts[0] + right)), of which some may be undefined.
Tensor sum_of(std::vector<Tensor> lefts, Tensor right) {
  const size_t n = lefts.size() + 1;
  std::erase_if(lefts, [](const Tensor& x) { return !x.defined(); });
  if (!right.defined() && !lefts.empty()) {
    right = std::move(lefts.front());
    lefts.erase(lefts.begin());
  }
  if (!right.defined()) return {};
  const bool has_zeros = lefts.size() + 1 < n;
  if (!lefts.empty()) {
    if (!right.is_sole_owner()) right = right.clone();
    dispatch(right.device(), [&](auto tag) { add_in_place(tag, lefts, right); });
  }
  // Zeros are added, not left out: -0 becomes 0, as it does where another process has the zeros.
  return has_zeros ? right + 0.0 : right;
}

}  // namespace

Tensor TreeSum::add(const PieceTree& tree, int64_t piece, Tensor x) {
  const NoGrad no_grad;
  if (const int64_t n = tree.n_closed(piece); n > 0) {
    // Together: the sum passes through the cache once.
    std::vector<Tensor> lefts(std::make_move_iterator(stack_.rbegin()),
                              std::make_move_iterator(stack_.rbegin() + n));
    stack_.resize(stack_.size() - static_cast<size_t>(n));
    x = sum_of(std::move(lefts), std::move(x));
  }
  if (tree.is_last(piece)) return x;
  stack_.push_back(std::move(x));
  return {};
}

}  // namespace farfield
