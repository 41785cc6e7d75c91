#pragma once

#include "engine/device.h"
#include "engine/tensor.h"

namespace farfield {

/// What attention adds to the plain dot product; the formula is in ops/attention.h.
struct AttentionRule {
  Tensor bias = {};  ///< [H, S] in acc, added at distance d; or undefined
  Tensor weight =
      {};  ///< [H, S] in acc, multiplies the scaled dot product at distance d; or undefined
  Tensor row_scale =
      {};              ///< [T] in acc, multiplies the scaled dot product of a query; or undefined
  int64_t window = 0;  ///< a query sees distances 0 .. window - 1 (itself included); 0: all
  int64_t sinks = 0;   ///< the first `sinks` keys stay visible outside the window
};

/// q [B, H, T, K], k, v [B, H, S, K] of one dtype, S >= T; the queries are the last T of the S
/// positions: query i is at position S - T + i. out [B, T, H, K]; lse [B, H, T] in acc, the log of
/// each row's softmax sum, or +inf for a row that sees nothing (its output is 0).
void attention_forward(Cpu, const Tensor& q, const Tensor& k, const Tensor& v,
                       const AttentionRule& rule, Tensor& out, Tensor& lse);
void attention_forward(Cuda, const Tensor& q, const Tensor& k, const Tensor& v,
                       const AttentionRule& rule, Tensor& out, Tensor& lse);

struct AttentionGrads {
  Tensor dq, dk, dv;      ///< like q, k, v
  Tensor dbias, dweight;  ///< like bias, weight; undefined when not wanted
};
/// Recomputes the scores from lse; O(S) memory beyond its arguments.
void attention_backward(Cpu, const Tensor& q, const Tensor& k, const Tensor& v,
                        const AttentionRule& rule, const Tensor& out, const Tensor& lse,
                        const Tensor& dout, AttentionGrads& grads);
void attention_backward(Cuda, const Tensor& q, const Tensor& k, const Tensor& v,
                        const AttentionRule& rule, const Tensor& out, const Tensor& lse,
                        const Tensor& dout, AttentionGrads& grads);

}  // namespace farfield
