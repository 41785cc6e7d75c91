#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/base/random.h"
#include "engine/host_device.h"
#include "engine/tensor.h"

namespace farfield {

// "acc" is float64 for attention in float64, else float32.

/// A bias that depends on the query's position too: bias[h, m, d] = f_h(feature[d] *
/// row_factor[m]), f_h continuous and piecewise linear. Between knots[i - 1] and knots[i] it is
/// slope[h, i] x + offset[h, i]; heads share the knots.
struct RowBias {
  Tensor feature = {};             ///< [S] in acc, not falling with d; or undefined: no such bias
  Tensor row_factor = {};          ///< [T] in acc, positive
  Tensor knots = {};               ///< [N] in acc, not falling; a constant
  Tensor slope = {}, offset = {};  ///< [H, N + 1] in acc
};

/// The function that turns the scores of a row into its probabilities P.
struct Normalizer {
  enum class Kind {
    softmax,
    relu,            ///< max(0, score) / (parameter sqrt(n / 2)), n the keys that the query sees
    relu_seqlen,     ///< max(0, score) / n
    relu_plain,      ///< max(0, score)
    clamp_absolute,  ///< softmax without scores below `parameter`; the largest always stays
    clamp_relative,  ///< softmax without scores below the largest minus `parameter`
    linear,          ///< max(0, score) / its sum over the row; attention() forms scores of features
    landmark,        ///< softmax by groups: blocks of tokens, and a landmark for each
  };
  Kind kind = Kind::softmax;
  double parameter = 1;
  /// relu, relu_seqlen, relu_plain: backward() acts as if the loss had also the term penalty * mean
  /// over the rows of the call of (sum of P - 1)^2.
  double penalty = 0;
  int64_t block = 0;  ///< landmark: the tokens before each landmark, at least 1

  /// P is max(0, score) times a factor of the row; else it is made of exponentials.
  bool is_relu() const {
    return kind == Kind::relu || kind == Kind::relu_seqlen || kind == Kind::relu_plain ||
           kind == Kind::linear;
  }
  bool is_clamped() const { return kind == Kind::clamp_absolute || kind == Kind::clamp_relative; }
  /// P is divided by a sum over the row, and adds up to 1.
  bool divides_by_sum() const { return !is_relu() || kind == Kind::linear; }
};

/// Dropout of probabilities P in training: some become 0, the others are divided by 1 - p. 16
/// random bits decide pair (query i, key n) of head h of sequence b, half n % 8 of block
/// ((first_head + b H' + h) T + i) ceil(S / 8) + n / 8 of `random`, H' = n_head: the same on every
/// device, and in the backward pass, without memory.
struct AttentionDropout {
  double p = 0;  ///< rounded to a multiple of 2^-16, the largest 1 - 2^-16; 0: nothing is done
  Random random = {};
  Tensor stream = {};  ///< in place of random.stream, as dropout()'s (ops/dropout.h)
  /// b H' + h of the first head of the first sequence, where a call computes a part of a batch or
  /// of the heads.
  int64_t first_head = 0;
  int64_t n_head = 0;  ///< of a sequence, heads of other calls included; 0: this call has all
};

/// The terms that attention adds to the plain dot product; the formula is in ops/attention.h.
struct AttentionRule {
  Tensor bias = {};    ///< [H, L] in acc, added; or undefined
  Tensor weight = {};  ///< [H, L] in acc, multiplies the scaled dot product; or undefined
  Tensor row_scale =
      {};              ///< [T] in acc, multiplies the scaled dot product of a query; or undefined
  int64_t window = 0;  ///< a query sees distances 0 .. window - 1 (itself included); 0: all
  int64_t sinks = 0;   ///< the first `sinks` keys stay visible outside the window

  /// A pair is far when its distance is at least switch_distance (0: never) and its query's
  /// position at least switch_position. Far pairs take q_far and k_far where these are given.
  int64_t switch_distance = 0, switch_position = 0;

  /// Entry of bias and weight that a pair reads: ids[m] - ids[n], or its distance without ids (then
  /// L = S); a far pair reads far_ids_q[m] - far_ids_k[n] when these are given. An entry outside of
  /// the tables is a ShapeError on the CPU; on a device the score of the pair is NaN.
  Tensor ids = {};                        ///< int32 [S] or [B, S], not falling; or undefined
  Tensor far_ids_q = {}, far_ids_k = {};  ///< int32 [T] and [S]; or both undefined

  RowBias row_bias = {};
  Normalizer normalizer = {};
  AttentionDropout dropout = {};
};

/// Keys that the query at position m sees, by the mask of a rule.
FARFIELD_HD inline int64_t n_visible(int64_t window, int64_t sinks, int64_t m) {
  if (window == 0 || m < window) return m + 1;
  return window + std::min(sinks, m + 1 - window);
}

/// f(table) for every floating tensor of a rule, defined or not, in a fixed order.
template <class Rule, class F>
void for_each_table(Rule& rule, const F& f) {
  f(rule.bias);
  f(rule.weight);
  f(rule.row_scale);
  f(rule.row_bias.feature);
  f(rule.row_bias.row_factor);
  f(rule.row_bias.knots);
  f(rule.row_bias.slope);
  f(rule.row_bias.offset);
}

}  // namespace farfield
