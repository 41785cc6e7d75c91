#include "layers/input_scalar.h"

#include <vector>

#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/softmax.h"

namespace farfield {
namespace {

Tensor one_hot(const Tensor& targets, const Tensor& logits) {
  const int64_t vocab_size = logits.dim(1);
  std::vector<double> values(static_cast<size_t>(logits.numel()));
  size_t row = 0;
  for (const double target : targets.to_vector()) {
    require<ShapeError>(target >= 0 && target < static_cast<double>(vocab_size), "model",
                        "expected targets from 0 to ", vocab_size - 1, ", got ", target);
    values[row * static_cast<size_t>(vocab_size) + static_cast<size_t>(target)] = 1;
    ++row;
  }
  return Tensor::from(values, logits.shape(), logits.dtype(), logits.device());
}

}  // namespace

Tensor scalar_of(const Tensor& logits, const Tensor& targets, InputScalar what) {
  require<ShapeError>(logits.rank() == 2 && targets.shape() == Shape{logits.dim(0)}, "model",
                      "expected logits [B, V] and targets [B], got ", logits.shape(), " and ",
                      targets.shape());
  switch (what) {
    case InputScalar::nll:
      // By log_softmax: its gradient p - 1 is 0 when p is 1, where a difference of two gradients
      // would leave rounding noise.
      return -sum(log_softmax(logits) * one_hot(targets, logits), -1);
    case InputScalar::target_logit:
      return sum(logits * one_hot(targets, logits), -1);
    case InputScalar::max_logit:
      return max(logits, -1);
    case InputScalar::negative_entropy:
      break;
  }
  const Tensor log_p = log_softmax(logits);
  return sum(exp(log_p) * log_p, -1);
}

}  // namespace farfield
