#pragma once

#include "engine/tensor.h"

namespace farfield {

/// The rotation of q and k in split_heads(), if cos and sin are given: [T, R/2] or [B, T, R/2] in
/// the accumulation type of q, for the first R components. Pairs are (i, i + R/2), or (2i, 2i + 1)
/// when interleaved. q is multiplied by scale_q and k by scale_k, same shape as cos (xPos; YaRN's
/// factor), when given.
///
/// far, [T, R/2], all four or none: the angles of the copies of q and k that far pairs take
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

}  // namespace farfield
