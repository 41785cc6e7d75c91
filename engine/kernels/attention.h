#pragma once

#include "engine/attention_rule.h"
#include "engine/device.h"
#include "engine/heads.h"
#include "engine/tensor.h"

namespace farfield {

/// Saved values of each row for the backward pass: [B, H, T] in acc, undefined if not needed.
struct AttentionRows {
  /// softmax and clamp kinds: the log-sum-exp of the row (LSE), or +inf for a row that sees nothing
  /// (its output is 0); landmark: of the group of the query's own block
  Tensor lse = {};
  Tensor threshold = {};  ///< clamp kinds: scores below it are left out
  /// relu kinds with a penalty: the sum of P; linear: of max(0, score)
  Tensor sum = {};
};

/// Whether heads of this type may be packed.
inline bool attends_to_packed_heads(Cpu, DType) { return true; }
inline bool attends_to_packed_heads(Cuda, DType dtype) { return dtype != DType::f64; }

/// Whether the backward pass can sum the columns of packed gradients.
inline bool sums_columns_of_heads(Cpu) { return false; }
inline bool sums_columns_of_heads(Cuda) { return true; }

/// Whether keys may have room (Heads::key_rows), for other normalizers than linear.
inline bool attends_to_keys_with_room(Cpu) { return true; }
inline bool attends_to_keys_with_room(Cuda) { return false; }

/// q [B, H, T, K], k, v [B, G, S, K] of one dtype, G a divisor of H, S >= T; the queries are the
/// last T of the S positions: query i is at position S - T + i. Head h of q takes head h / (H / G)
/// of k and v. far is like q and k, or undefined. out [B, T, H, K].
void attention_forward(Cpu, const Heads& heads, const AttentionRule& rule, Tensor& out,
                       AttentionRows& rows);
void attention_forward(Cuda, const Heads& heads, const AttentionRule& rule, Tensor& out,
                       AttentionRows& rows);

struct AttentionGrads {
  /// Like the heads, packed as they are; but of k and v (and far.k) for each head of q alone, [B,
  /// H, S, K]: heads that share a head of k leave the sum to their caller.
  Heads dheads;
  Tensor dbias, dweight;  ///< like bias, weight; undefined when not wanted
  RowBias drow_bias;      ///< each like its input, the knots left out; undefined when not wanted
  Tensor column_sums;     ///< of packed dheads, [3 H K] in acc; undefined when not wanted
};
/// Recomputes the scores from the rows; O(S) memory beyond its arguments.
void attention_backward(Cpu, const Heads& heads, const AttentionRule& rule, const Tensor& out,
                        const AttentionRows& rows, const Tensor& dout, AttentionGrads& grads);
void attention_backward(Cuda, const Heads& heads, const AttentionRule& rule, const Tensor& out,
                        const AttentionRows& rows, const Tensor& dout, AttentionGrads& grads);

}  // namespace farfield
