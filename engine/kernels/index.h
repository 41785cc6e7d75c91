#pragma once

#include "engine/device.h"
#include "engine/tensor.h"

namespace farfield {

/// y[i, :] = table[ids[i], :]; table may be wider (float32) than y (bfloat16).
void embedding_forward(Cpu, const Tensor& table, const Tensor& ids, Tensor& y);
void embedding_forward(Cuda, const Tensor& table, const Tensor& ids, Tensor& y);
/// dtable[v, :] = sum of dy[i, :] over i with ids[i] = v, in the order of i; dtable is zeroed
/// first.
void embedding_backward(Cpu, const Tensor& ids, const Tensor& dy, Tensor& dtable);
void embedding_backward(Cuda, const Tensor& ids, const Tensor& dy, Tensor& dtable);

/// Splits qkv [B, T, H, 3, K] into q, k, v [B, H, T, K], and rotates q and k when cos? and sin? are
/// given: [T, R/2] or [B, T, R/2] in acc, for the first R components. Pairs are (i, i + R/2), or
/// (2i, 2i + 1) when interleaved. q is multiplied by scale_q? and k by scale_k?, same shape as cos
/// (xPos; YaRN's factor), when given.
struct Rotation {
  Tensor cos = {}, sin = {};
  Tensor scale_q = {}, scale_k = {};
  bool interleaved = false;
};
void split_heads_forward(Cpu, const Tensor& qkv, const Rotation& rotation, Tensor& q, Tensor& k,
                         Tensor& v);
void split_heads_forward(Cuda, const Tensor& qkv, const Rotation& rotation, Tensor& q, Tensor& k,
                         Tensor& v);
/// The reverse: rotates dq and dk back and gathers dqkv.
void split_heads_backward(Cpu, const Tensor& dq, const Tensor& dk, const Tensor& dv,
                          const Rotation& rotation, Tensor& dqkv);
void split_heads_backward(Cuda, const Tensor& dq, const Tensor& dk, const Tensor& dv,
                          const Rotation& rotation, Tensor& dqkv);

}  // namespace farfield
