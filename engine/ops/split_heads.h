#pragma once

#include <string_view>

#include "engine/heads.h"
#include "engine/rotation.h"
#include "engine/tensor.h"

namespace farfield {

/// Takes the output of the QKV projection apart and rotates q and k, in one pass; with
/// rotation.far, also the copies that far pairs take.
///
/// Shapes    qkv [B, T, (H + 2 G) K], H heads of queries for G heads of keys and values, its last
///           dimension laid out as [group][q of each head of the group | k | v][K]; with G = H that
///           is [head][q | k | v][K]
///           rotation.cos, .sin, .scale_q, .scale_k: [T, R/2] or [B, T, R/2] in the accumulation
///           type, R <= K even; cos and sin come together; a scale needs them
///           rotation.far: [T, R/2], beside cos and sin without scales
/// Formula   (x'_a, x'_b) = scale (x_a cos - x_b sin, x_a sin + x_b cos) for each pair (a, b):
///           (i, i + R/2), or (2i, 2i + 1) when interleaved; components from R on stay as they are.
///           heads.far has the same q and k turned by the angles of rotation.far
/// Throws    ShapeError, DTypeError
/// Source    Su et al. 2021, "RoFormer", arXiv:2104.09864, section 3.2.2; scales: Sun et al. 2022,
///           arXiv:2212.10554
Heads split_heads(const Tensor& qkv, const HeadCounts& counts, const Rotation& rotation = {});

/// Throws the errors of split_heads() for a wrong qkv.
void check_qkv(std::string_view where, const Tensor& qkv, const HeadCounts& counts);
/// And for a rotation that does not fit qkv, which check_qkv() has checked.
void check_rotation(std::string_view where, const Rotation& rotation, const Tensor& qkv,
                    const HeadCounts& counts);

}  // namespace farfield
