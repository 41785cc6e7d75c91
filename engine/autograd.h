#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/tensor.h"

namespace farfield {

/// One gradient for each input of an op, in order; an undefined tensor means "none" (or zero).
using Grads = std::vector<Tensor>;
using BackwardFn = std::function<Grads(const Tensor& dy)>;
using MultiBackwardFn = std::function<Grads(const std::vector<Tensor>& dys)>;

/// Notes on y how to turn dy into gradients of `inputs`, unless gradients are off or no input needs
/// one. The closure keeps detached tensors only: y.detach(), never y. It runs once, with gradients
/// off, and is dropped at once, which frees what it kept.
void record(std::string_view op, Tensor& y, const std::vector<Tensor>& inputs, BackwardFn backward);
/// The same for an op with several outputs. A dy is undefined when nothing used that output.
void record(std::string_view op, const std::vector<Tensor*>& ys, const std::vector<Tensor>& inputs,
            MultiBackwardFn backward);

/// Says of y, the one output of an op that was just recorded, that the backward function of the op
/// has a use for the column_sums() of dy: who makes dy may have them at hand.
void expect_column_sums(const Tensor& y);
/// Whether that was said of x.
bool expects_column_sums(const Tensor& x);

/// True when an op on these inputs will be recorded: gradients are on and one of the inputs needs
/// one.
bool will_record(const std::vector<Tensor>& inputs);

/// Gradients of sum(y * dy) for every leaf that y was made from, added to their grad(). dy may be
/// left out when y has one element. Iterative, in reverse order of creation; each node is freed
/// once it has run. ShapeError when y has no history.
void backward(const Tensor& y, Tensor dy = {});
/// The same for sum over i of sum(ys[i] * dys[i]); an undefined dy leaves its y out.
void backward(const std::vector<Tensor>& ys, const std::vector<Tensor>& dys);

/// Told of a leaf when its gradient is complete, before backward() goes on to the rest: in the
/// leaf's grad(), or in the LeafGradients of this thread, which it may be taken from.
using OnLeafDone = std::function<void(const Tensor& leaf)>;
/// backward() of a scalar that tells of each leaf with a gradient, once. Of none where checkpoint()
/// hides which leaves are used.
void backward(const Tensor& y, const Tensor& dy, const OnLeafDone& on_leaf_done);

/// While one lives, backward() on this thread adds the gradients of these leaves up here, not in
/// their grad(): so that threads can go back through several graphs of the same parameters.
class LeafGradients {
 public:
  /// Where the elements of a leaf are, to its number from 0 on; must outlive this.
  using Numbers = std::unordered_map<const void*, size_t>;
  explicit LeafGradients(const Numbers& numbers);
  ~LeafGradients();
  LeafGradients(const LeafGradients&) = delete;
  LeafGradients& operator=(const LeafGradients&) = delete;

  /// Of one leaf, once; undefined where backward() has not come.
  Tensor take(size_t number) { return std::exchange(gradients_[number], {}); }
  /// Of all, by number.
  std::vector<Tensor> take() { return std::move(gradients_); }

 private:
  friend struct LeafTarget;
  const Numbers& numbers_;
  std::vector<Tensor> gradients_;
  LeafGradients* before_;
};

/// While one lives, ops on this thread are not recorded.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};
/// The opposite, inside a NoGrad: activation checkpointing records a block again while backward
/// runs.
class EnableGrad {
 public:
  EnableGrad();
  ~EnableGrad();
  EnableGrad(const EnableGrad&) = delete;
  EnableGrad& operator=(const EnableGrad&) = delete;

 private:
  bool before_;
};
bool grad_enabled();

/// While one lives, each recorded output and each gradient is checked, and the first that is not
/// finite is named. Slow: meant for repeating the one step that went wrong.
class FindNonfinite {
 public:
  FindNonfinite();
  ~FindNonfinite();
  FindNonfinite(const FindNonfinite&) = delete;
  FindNonfinite& operator=(const FindNonfinite&) = delete;

  /// Whether one lives on this thread.
  static bool is_active();
  /// For example "output of linear, shape [4, 128, 256]" or "gradient from attention, input 0"; ""
  /// while all was finite.
  const std::string& found() const { return found_; }

 private:
  friend struct FiniteCheck;
  std::string found_;
  FindNonfinite* before_;
};

/// ys = f(inputs), keeping only the inputs: backward() computes f again. Every tensor with gradient
/// history that f uses must be among the inputs, which may be undefined; leaves (parameters) need
/// not be.
std::vector<Tensor> checkpoint(
    const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& f,
    const std::vector<Tensor>& inputs);

}  // namespace farfield
