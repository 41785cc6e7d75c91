#pragma once
// Attention under Normalizer::Kind::landmark, the softmax by groups of ops/attention.h.
//
// With s the share of a pair in the softmax of its group, and g the share of an earlier block's
// landmark in the group of the query's own block,
//
//     P = s  in the own block,  P = g s  in an earlier one.
//
// The gradients of the scores, D the sum of P dP over the row, D_b the sum of s dP over block b:
//
//     own block      dscore = s (dP - D)
//     earlier block  dscore = P (dP - D_b),  of its landmark g (D_b - D)

#include <algorithm>
#include <cstdint>

#include "engine/host_device.h"
#include "engine/kernels/attention.h"

namespace farfield {

/// Where blocks lie: n_token tokens and a landmark each.
struct LandmarkBlocks {
  /// A block longer than all keys has no landmark among them.
  LandmarkBlocks(int64_t block, int64_t n_key) : n_token(std::min(block, n_key)) {}

  int64_t n_token;

  FARFIELD_HD int64_t size() const { return n_token + 1; }
  FARFIELD_HD int64_t block_of(int64_t position) const { return position / size(); }
  FARFIELD_HD int64_t begin(int64_t block) const { return block * size(); }
  FARFIELD_HD int64_t landmark(int64_t block) const { return begin(block) + n_token; }
  /// The end of the tokens of its own block that the query at this position sees.
  FARFIELD_HD int64_t own_end(int64_t position) const {
    const int64_t landmark_at = landmark(block_of(position));
    return position < landmark_at ? position + 1 : landmark_at;
  }
};

/// As attention_forward() and attention_backward(), of heads that are not packed, without far
/// copies. The rule has no window, no far pairs and no row bias. Row by row: for long inputs slower
/// than the kernels by tiles.
void landmark_attention_forward(Cpu, const Heads& heads, const AttentionRule& rule, Tensor& out,
                                AttentionRows& rows);
void landmark_attention_forward(Cuda, const Heads& heads, const AttentionRule& rule, Tensor& out,
                                AttentionRows& rows);
void landmark_attention_backward(Cpu, const Heads& heads, const AttentionRule& rule,
                                 const Tensor& out, const AttentionRows& rows, const Tensor& dout,
                                 AttentionGrads& grads);
void landmark_attention_backward(Cuda, const Heads& heads, const AttentionRule& rule,
                                 const Tensor& out, const AttentionRows& rows, const Tensor& dout,
                                 AttentionGrads& grads);

}  // namespace farfield
