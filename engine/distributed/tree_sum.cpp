#include "engine/distributed/tree_sum.h"

#include <utility>

#include "engine/autograd.h"
#include "engine/kernels.h"
#include "engine/ops/pointwise.h"

namespace farfield {
namespace {

Tensor sum_of(Tensor left, Tensor right) {
  if (!left.defined() && !right.defined()) return {};
  // Zeros are added, not left out: -0 becomes 0, as it does where another process has the zeros.
  if (!left.defined() || !right.defined()) return (left.defined() ? left : right) + 0.0;
  if (!right.is_sole_owner()) right = right.clone();
  dispatch(right.device(), [&](auto tag) { add_in_place(tag, left, right); });
  return right;
}

}  // namespace

Tensor TreeSum::take_left() {
  require<BackendError>(!stack_.empty() && !is_left_taken_, "tree sum",
                        "expected a piece that closes a sum, once");
  if (!stack_.back().is_sole_owner()) return {};
  is_left_taken_ = true;
  Tensor left = std::move(stack_.back());
  stack_.pop_back();
  return left;
}

Tensor TreeSum::add(const PieceTree& tree, int64_t piece, Tensor x) {
  const NoGrad no_grad;
  for (int64_t i = std::exchange(is_left_taken_, false) ? 1 : 0; i < tree.n_closed(piece); ++i) {
    Tensor left = std::move(stack_.back());
    stack_.pop_back();
    x = sum_of(std::move(left), std::move(x));
  }
  if (tree.is_last(piece)) return x;
  stack_.push_back(std::move(x));
  return {};
}

}  // namespace farfield
