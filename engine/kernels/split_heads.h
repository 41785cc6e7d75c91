#pragma once

#include "engine/device.h"
#include "engine/heads.h"
#include "engine/host_device.h"
#include "engine/rotation.h"
#include "engine/tensor.h"

namespace farfield {

/// The pair (a, b) turned by an angle: its first component. By -sin it is turned back.
template <class A>
FARFIELD_HD A turned_first(A a, A b, A cos, A sin) {
  return a * cos - b * sin;
}
/// Its second component.
template <class A>
FARFIELD_HD A turned_second(A a, A b, A cos, A sin) {
  return a * sin + b * cos;
}

/// Splits qkv [B, T, G, H/G + 2, K] into q [B, H, T, K] and k, v [B, G, T, K], and turns q and k,
/// and their far copies, when the rotation is given.
void split_heads_forward(Cpu, const Tensor& qkv, const Rotation& rotation, Heads& heads);
void split_heads_forward(Cuda, const Tensor& qkv, const Rotation& rotation, Heads& heads);
/// The reverse: rotates the gradients of q, k and their far copies back, and gathers dqkv.
void split_heads_backward(Cpu, const Heads& dheads, const Rotation& rotation, Tensor& dqkv);
void split_heads_backward(Cuda, const Heads& dheads, const Rotation& rotation, Tensor& dqkv);
/// Turns q and k of qkv [B, T, H, 3, K] where they lie, to the bits that split_heads_forward() has
/// of them. The rotation has no far copies.
void turn_heads(Cpu, int64_t n_head, const Rotation& rotation, Tensor& qkv);
void turn_heads(Cuda, int64_t n_head, const Rotation& rotation, Tensor& qkv);
/// The reverse: turns the gradients of q and k back, to the bits that split_heads_backward() has of
/// them.
void turn_heads_back(Cpu, int64_t n_head, const Rotation& rotation, Tensor& dqkv);

}  // namespace farfield
