#pragma once

#include "engine/device.h"
#include "engine/kernels/heads.h"
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
///
/// far, [T, R/2] in acc, all four or none: the angles of the copies of q and k that far pairs take
/// (AttentionRule::switch_distance). They have no scales, so none may be given beside them.
struct Rotation {
  Tensor cos = {}, sin = {};
  Tensor scale_q = {}, scale_k = {};
  bool interleaved = false;
  struct Far {
    Tensor cos_q = {}, sin_q = {}, cos_k = {}, sin_k = {};
  } far = {};
};
/// f(table) for every tensor of a rotation, defined or not, in a fixed order.
template <class Turn, class F>
void for_each_angle(Turn& rotation, const F& f) {
  f(rotation.cos);
  f(rotation.sin);
  f(rotation.scale_q);
  f(rotation.scale_k);
  f(rotation.far.cos_q);
  f(rotation.far.sin_q);
  f(rotation.far.cos_k);
  f(rotation.far.sin_k);
}
void split_heads_forward(Cpu, const Tensor& qkv, const Rotation& rotation, Heads& heads);
void split_heads_forward(Cuda, const Tensor& qkv, const Rotation& rotation, Heads& heads);
/// The reverse: rotates the gradients of q, k and their far copies back, and gathers dqkv.
void split_heads_backward(Cpu, const Heads& dheads, const Rotation& rotation, Tensor& dqkv);
void split_heads_backward(Cuda, const Heads& dheads, const Rotation& rotation, Tensor& dqkv);

}  // namespace farfield
