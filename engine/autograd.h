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

/// Records on y how to turn dy into gradients of `inputs`, unless gradients are off or no input
/// needs one. The closure keeps detached tensors only: y.detach(), never y. It runs once, with
/// gradients off, and is dropped at once, which frees what it kept.
void record(std::string_view op, Tensor& y, const std::vector<Tensor>& inputs, BackwardFn backward);
/// The same for an op with several outputs. A dy is undefined when nothing used that output.
void record(std::string_view op, const std::vector<Tensor*>& ys, const std::vector<Tensor>& inputs,
            MultiBackwardFn backward);

/// Marks y, the only output of an op that was just recorded: the op's backward function can use the
/// column_sums() of dy, if the op that makes dy has them at hand.
void expect_column_sums(const Tensor& y);
/// Whether x has this mark.
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

/// A callback for each leaf whose gradient is complete, called before backward() goes on. The
/// gradient is in the leaf's grad(), or in the LeafGradients of this thread, from which the
/// callback may take it.
using OnLeafDone = std::function<void(const Tensor& leaf)>;
/// Hands over the sum that a leaf's gradient would be added to next, or an undefined tensor.
using TakeLeafSum = std::function<Tensor(const Tensor& leaf)>;
struct LeafCalls {
  OnLeafDone done = nullptr;
  TakeLeafSum take_sum = nullptr;
};
/// backward() of a scalar that calls these, where they are given: `done` once for each leaf with a
/// gradient; `take_sum` at a leaf's last use, if it has no gradient by then and the op asks
/// (take_sum_of_input()). Neither where checkpoint() hides leaves.
void backward(const Tensor& y, const Tensor& dy, const LeafCalls& calls);

/// For the backward function of an op while it runs, once for each input: the sum that its gradient
/// of the input is to be added to. The function adds in place and returns the sum as the gradient.
/// Undefined: none.
Tensor take_sum_of_input(size_t input);

/// While one lives, backward() on this thread accumulates the gradients of these leaves here, not
/// in their grad(): so that threads can run backward through several graphs of the same parameters.
class LeafGradients {
 public:
  /// From the address of a leaf's elements to its number, from 0 on; must outlive this.
  using Numbers = std::unordered_map<const void*, size_t>;
  explicit LeafGradients(const Numbers& numbers);
  ~LeafGradients();
  LeafGradients(const LeafGradients&) = delete;
  LeafGradients& operator=(const LeafGradients&) = delete;

  /// The gradient of one leaf, once; undefined if backward() has not reached it.
  Tensor take(size_t number) { return std::exchange(gradients_[number], {}); }
  /// The gradients of all, by number.
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
/// finite is named. Slow: meant for repeating a failed step.
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
