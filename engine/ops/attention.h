#pragma once

#include "engine/kernels/attention.h"
#include "engine/tensor.h"

namespace farfield {

/// Fused causal attention with tables over the distance d = pos_q - pos_k.
///
/// q [B, H, T, K]; k, v [B, H, S, K], S >= T, all of one floating dtype; the queries are the last T
/// of the S positions. Returns [B, T, H * K]. Per batch entry and head h, for the query at position
/// m and the key at position n:
///
///     score[m, n] = row_scale[m] * (q_m . k_n) / sqrt(K) * weight[h, d] + bias[h, d]
///     out[m] = sum over visible n of softmax(score[m, :])[n] v_n
///
/// n is visible to m when 0 <= d, and d < window or n < sinks unless window is 0. An absent table
/// is 1 (weight, row_scale) or 0 (bias). A bias of -inf hides the pair, with gradient 0. A row that
/// sees nothing has output 0 and gradients 0. A NaN or an infinity in q, k or v shows in every row
/// that sees it, and may show in rows that do not.
///
/// bias and weight are [H, S], row_scale is [T]; float64 for float64 inputs, else float32.
/// Gradients go to q, k, v, and to bias and weight where these need one; row_scale is a constant.
///
/// Precision: bfloat16 is widened to float32 on load; dot products, softmax and all sums are in
/// float32 (float64 for float64 inputs), table gradients are summed over tiles in float64; each
/// result is rounded once. Results do not depend on the number of threads. No [T, S] matrix exists
/// at any time: working memory grows linearly with S.
///
/// ShapeError, DTypeError, DeviceError or ConfigError when the arguments do not fit.
///
/// The table form is that of ALiBi (Press, Smith and Lewis 2022, arXiv:2108.12409) and KERPLE (Chi
/// et al. 2022, arXiv:2205.09921); the softmax by blocks, and its recomputation in the backward
/// pass from one saved number per row, follow FlashAttention (Dao et al. 2022, arXiv:2205.14135).
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionRule& rule = {});

}  // namespace farfield
