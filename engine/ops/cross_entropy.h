#pragma once

#include <optional>

#include "engine/distributed/group.h"
#include "engine/tensor.h"

namespace farfield {

/// Mean over i of nll[i] = logsumexp(x[i] w^T) - (x[i] w^T)[targets[i]]: the output head and its
/// loss as one op. The logits [N, V] are never stored: tokens are taken some hundreds at a time,
/// and, when gradients are wanted, each chunk adds its share to dx and dw at once, so backward()
/// only hands them on.
///
/// Shapes    x [N, D], w [V, D], targets int32 [N] -> []
/// Types     w float32 for x in float32 or bfloat16, float64 for float64; the loss as w. The
///           softmax is in the type of w, the sum over tokens in float64. Logits are in the type of
///           w; with `logits`, for x in bfloat16, they are rounded to bfloat16, which halves the
///           memory traffic and moves a loss by some 2^-9 of the logits
/// Throws    ShapeError, DTypeError; ShapeError for a target outside 0 .. V - 1, for which the loss
///           is NaN on cuda: to read the targets back would stall the device
/// A row with logits that are not finite gives a loss that is not finite.
Tensor linear_cross_entropy(const Tensor& x, const Tensor& w, const Tensor& targets,
                            std::optional<DType> logits = {});

/// The rows of one process of a head whose vocabulary is split over a group: first .. first + V - 1
/// of vocab_size.
struct VocabularyPart {
  Group group = {};
  int64_t first = 0;
  int64_t vocab_size = 0;
};

/// The same for a group of processes, to rounding. Each process has its rows of w and all of x and
/// of the targets, which count from 0 to vocab_size - 1. The gradient of x is the whole gradient,
/// with the same bits in all processes. For each token they exchange two numbers and dx. Logits of
/// several processes are not rounded.
Tensor linear_cross_entropy(const Tensor& x, const Tensor& w, const Tensor& targets,
                            const VocabularyPart& part, std::optional<DType> logits = {});
Tensor linear_nll(const Tensor& x, const Tensor& w, const Tensor& targets,
                  const VocabularyPart& part);

/// Number of tokens that it processes at a time, of n_token in all.
int64_t cross_entropy_chunk(int64_t n_token, int64_t vocab_size, Device::Kind device = {},
                            DType logits = DType::f32);

/// The nll [N] of each row of the same, without gradients.
Tensor linear_nll(const Tensor& x, const Tensor& w, const Tensor& targets);

/// The nll [N] of rows of logits [N, V]; overwrites the logits by the gradient of the sum of the
/// nll. The memory-bound part of the above, for bench.
Tensor nll_in_place(Tensor& logits, const Tensor& targets);

}  // namespace farfield
