#pragma once

#include "engine/attention_rule.h"
#include "engine/heads.h"
#include "engine/rotation.h"
#include "engine/tensor.h"

namespace farfield {

/// Fused causal attention with tables over the distance d = pos_q - pos_k.
///
/// q [B, H, T, K]; k, v [B, G, S, K], S >= T, all of one floating dtype; the queries are the last T
/// of the S positions. G divides H: head h takes the keys and values of head h / (H / G), which are
/// not copied. Returns [B, T, H * K]. Per batch entry and head h, for the query at position m (the
/// i-th query) and the key at position n:
///
///     score[m, n] = row_scale[i] * (q_m . k_n) / sqrt(K) * weight[h, e] + bias[h, e]
///                   + f_h(feature[d] * row_factor[i])
///     out[m] = sum over visible n of P[m, n] v_n,  P[m, :] = softmax(score[m, :])
///
/// n is visible to m when 0 <= d, and d < window or n < sinks unless window is 0. An absent table
/// is 1 (weight, row_scale) or 0 (bias). A bias of -inf hides the pair, with gradient 0. A row that
/// sees nothing has output 0 and gradients 0. A NaN or an infinity in q, k or v shows in every row
/// that sees it, and may show in rows that do not.
///
/// A pair is far when switch_distance > 0, d >= switch_distance and m >= switch_position. With
/// `far` given, a far pair takes far.q_m . far.k_n instead of q_m . k_n.
///
/// e, the entry of the tables, is far_ids_q[i] - far_ids_k[n] for a far pair with these given, else
/// ids[m] - ids[n] with these given, else d. Ids do not fall. Tables are as long as the entries of
/// visible pairs ask for, [H, L]; without ids L = S.
///
/// f_h, the row bias, is continuous and piecewise linear: slope[h, s] x + offset[h, s] in segment
/// s, between knots[s - 1] and knots[s]. Without it the term is 0. Features do not fall with d and
/// row factors are positive, so that a row is cut into its segments by search.
///
/// Other normalisers than softmax, with N the number of keys that window and sinks let m see:
///
///     relu            P = max(0, score) / (parameter sqrt(N / 2))
///     relu_seqlen     P = max(0, score) / N
///     relu_plain      P = max(0, score)
///     clamp_absolute  softmax over the scores that reach min(parameter, the largest)
///     clamp_relative  softmax over the scores that reach the largest minus parameter
///     linear          P = max(0, score) / sum over visible n of max(0, score), with phi(q) and
///                     phi(k) in place of q and k, far copies too: phi(x) = elu(x) + 1 > 0
///     landmark        softmax by groups, below
///
/// landmark: position n is a landmark if n mod (block + 1) = block; it ends a block of tokens. One
/// softmax is over the tokens of the query's own block and the landmarks of the blocks before; one
/// more over the tokens of each of these blocks. P of a token is its share of its own softmax,
/// times the share of the landmark for a token of an earlier block. P of a landmark is 0, and a
/// query does not see the landmark of its own block, not even if it is this landmark. A block whose
/// tokens are all hidden by biases of -inf counts as hidden, its landmark too. There is no window,
/// no far pair and no row bias beside it.
///
/// Pairs that a clamp leaves out have no gradient, nor has the threshold; at score 0 the gradient
/// of relu is 0. With a penalty, backward() adds the gradient of Normalizer::penalty's term.
///
/// rule.dropout sets P of the pairs that it chooses to 0 in out, and divides P of the other pairs
/// by 1 - p; the normaliser and its penalty act on P before dropout.
///
/// row_scale is [T]; all tables are float64 for float64 inputs, else float32. Gradients go to q, k,
/// v, far.q and far.k (near pairs give theirs to q and k, far pairs to the copies), and to bias,
/// weight, feature, row_factor, slope and offset where these need one; row_scale and knots are
/// constants.
///
/// Precision: bfloat16 is widened to float32 on load; dot products, softmax and all sums are in
/// float32 (float64 for float64 inputs), table gradients are summed over tiles in float64; each
/// result is rounded once; numbers below the smallest normal one count as 0. Results do not depend
/// on the number of threads. No [T, S] matrix exists at any time: working memory grows linearly
/// with S.
///
/// A CUDA device forms all products of matrices by its tensor cores, with sums in float32: of
/// bfloat16 inputs P and dS are rounded to bfloat16 first; float32 is split in three parts, which
/// keeps its accuracy. There head_dim is at most 256; in float32 at most 128, or 64 with far
/// copies, where a block has 99 KiB of shared memory (compute capability 8.6 and 8.9); BackendError
/// otherwise. What the CPU checks of the values of ids, features, row factors and knots is not
/// checked: features or knots that fall and factors of 0 or less give wrong scores. There the score
/// of a visible pair whose entry is outside of the tables is NaN, and so is the output of its row;
/// nothing beside the tables is read or written.
///
/// ShapeError, DTypeError, DeviceError or ConfigError when the arguments do not fit.
///
/// Tables by distance serve ALiBi (Press, Smith and Lewis 2022, arXiv:2108.12409) and KERPLE (Chi
/// et al. 2022, arXiv:2205.09921). The softmax by blocks, and its recomputation in the backward
/// pass from one saved number per row (the log-sum-exp, LSE), follow FlashAttention (Dao et al.
/// 2022, arXiv:2205.14135). Far pairs serve ReRoPE (Su 2023) and SelfExtend (Jin et al. 2024,
/// arXiv:2401.01325), the row bias FIRE (Li et al. 2024, arXiv:2310.04418). relu_seqlen follows
/// Wortsman et al. 2023, arXiv:2309.08586, relu Shen et al. 2023, arXiv:2302.06461, linear
/// Katharopoulos et al. 2020, arXiv:2006.16236, computed pair by pair like the others. landmark
/// follows Mohtashami and Jaggi 2023, arXiv:2305.16300, section 3; it has kernels of its own, row
/// by row.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionRule& rule = {},
                 const FarHeads& far = {});

/// The same of heads that are not packed and may have room (Heads::key_rows). The CPU reads their
/// keys in place; other devices, and a linear normalizer, copy them out of it.
Tensor attention(const Heads& heads, const AttentionRule& rule = {});

/// The same of the output of the QKV projection, qkv [B, T, (H + 2 G) K], split and rotated as by
/// split_heads(): the same bits. With G = H, no far copies and a normalizer other than linear and
/// landmark the heads are read in place (on CUDA not in float64), and rotated in place if qkv has
/// no other owner (move it in), else in a copy.
Tensor attention(Tensor qkv, const HeadCounts& counts, const AttentionRule& rule = {},
                 const Rotation& rotation = {});

}  // namespace farfield
