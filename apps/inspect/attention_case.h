#pragma once

#include <cstdint>
#include <filesystem>

#include "apps/run/checkpoint.h"
#include "engine/tensor.h"
#include "posenc/composition.h"

namespace farfield::inspect {

/// A small attention problem: q, k, v and the gradient of the output, each [n_head, T, head_dim] in
/// float64.
struct AttentionCase {
  Tensor q, k, v, dout;

  int64_t n_head() const { return q.dim(0); }
  int64_t length() const { return q.dim(1); }
  int64_t head_dim() const { return q.dim(2); }
};

/// Normal random numbers: a pure function of the seed, the name of the tensor and the place.
AttentionCase random_case(int64_t n_head, int64_t length, int64_t head_dim, uint64_t seed);

/// q, k, v and dout of a safetensors file, of any floating type; other tensors are left alone.
/// IoError names the file and a tensor that is missing, of another shape or type, or not finite.
AttentionCase read_case(const std::filesystem::path& path);

/// Results of the fused op for a problem under one layer of an encoding, rotation included: out,
/// dq, dk, dv [n_head, T, head_dim]; dbias, dweight [n_head, L] if the layer has such a table, L =
/// T unless positions are remapped; grad.NAME for each learned parameter, zero for a parameter
/// without a part in this layer. Gradients are of sum(out * dout); the gradient of a bias is taken
/// where the bias is added, after bias_scale. The encoding's config must be in float64 and of the
/// problem's size.
run::NamedTensors solve(const AttentionCase& problem, const posenc::Composition& encoding,
                        int64_t layer, posenc::Phase phase, uint64_t draw);

}  // namespace farfield::inspect
