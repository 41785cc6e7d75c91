#pragma once
// Dot products to scores, pair by pair: PlainScores for common rules (at most a table by distance),
// and GeneralScores for all rules. RowBiasScores, for a row bias alone, are plain ones that take
// the dot products of a part of a tile to scores at once (kAddsRowBias). DroppingScores are plain
// or general ones with dropout.

#include "engine/cuda/attention_dropping_scores.cuh"
#include "engine/cuda/attention_plain_scores.cuh"
#include "engine/cuda/attention_row_bias_scores.cuh"

namespace farfield::attention_cuda {

/// Everything that attention() knows, decided pair by pair.
template <class T>
class GeneralScores {
 public:
  static constexpr bool kIsGeneral = true, kDrops = false, kAddsRowBias = false;
  static constexpr bool kIsLean = false, kIsProduct = false;
  static constexpr float kShiftUnit = 1;
  struct Shared {};

  __device__ GeneralScores(const Problem<T>& p, const Head& head)
      : p_(p),
        h_(head.h),
        ids_(p.ids ? p.ids + (p.ids_per_sequence ? int64_t{head.batch} * p.n_key : 0) : nullptr) {}

  __device__ void load(Shared&, int, int, int, int) const {}
  __device__ void start_tile(const Shared&, int query, int n_query, int key, int n_key) {
    query_ = query;
    key_ = key;
    const int m = p_.first_position() + query;
    // Queries beyond the last count as well, so these may be true of a tile without such pairs.
    has_far_ = p_.far_q && p_.is_far(m + n_query - 1, m + n_query - 1 - key);
    has_near_ = !p_.far_q || !p_.is_far(m, m - (key + n_key - 1));
  }
  /// Whether some pairs of the tile take q and k, and whether some take far_q and far_k.
  __device__ bool has_near() const { return has_near_; }
  __device__ bool has_far() const { return has_far_; }
  __device__ bool is_far(int i, int j) const {
    const int m = p_.first_position() + query_ + i;
    return p_.is_far(m, m - key_ - j);
  }

  /// f(*this), as PlainScores has it.
  template <Tables kTables, class F>
  __device__ void for_tile(const F& f) {
    f(*this);
  }
  __device__ Score operator()(float dot, float factor, int i, int j) {
    const int query = query_ + i, key = key_ + j;
    if (!p_.sees(query, key)) return {-kInfinity, 0, 1};
    const int m = p_.first_position() + query, d = m - key;
    Score score{0, dot * factor, 1};
    float bias = 0;
    if (p_.bias || p_.weight) {
      const int entry = p_.far_ids_q && p_.is_far(m, d)
                            ? entry_of(p_.far_ids_q[query], p_.far_ids_k[key])
                        : ids_ ? entry_of(ids_[m], ids_[key])
                               : d;
      if (entry < 0) return {std::numeric_limits<float>::quiet_NaN(), score.content, 1};
      const int64_t at = int64_t{h_} * p_.n_entry + entry;
      if (p_.weight) score.weight = p_.weight[at];
      if (p_.bias) bias = p_.bias[at];
    }
    // Exactly one rounding, so that both passes get the same scores.
    score.value = std::fma(score.content, score.weight, bias);
    if (p_.row_bias.feature) {
      const float x = p_.row_bias.feature[d] * p_.row_bias.row_factor[query];
      const int64_t at = line_at(x);
      score.value += std::fma(p_.row_bias.slope[at], x, p_.row_bias.offset[at]);
    }
    return score;
  }
  /// Where the slope and offset for this argument of the row bias are.
  __device__ int64_t line_at(float x) {
    segment_ = p_.row_bias.segment_from(segment_, x);
    return int64_t{h_} * p_.row_bias.n_segment() + segment_;
  }
  /// The slope of the row bias at a pair that is seen.
  __device__ float slope(int i, int j) {
    const int query = query_ + i, d = p_.first_position() + query - key_ - j;
    return p_.row_bias.slope[line_at(p_.row_bias.feature[d] * p_.row_bias.row_factor[query])];
  }
  __device__ static float exp(float x) { return std::exp(x); }
  __device__ static float exp(float score, float shift) { return std::exp(score - shift); }

 protected:
  const Problem<T>& p_;

 private:
  // The entry of the tables for these ids, or -1 outside of the tables. The host has not checked
  // the ids, since reading them back would stall the device. The difference is exact where it is
  // kept.
  __device__ int entry_of(int of_query, int of_key) const {
    const unsigned entry = static_cast<unsigned>(of_query) - static_cast<unsigned>(of_key);
    const bool is_there = of_query >= of_key && entry < static_cast<unsigned>(p_.n_entry);
    return is_there ? static_cast<int>(entry) : -1;
  }

  int h_;
  const int* ids_;
  int query_ = 0, key_ = 0, segment_ = 0;
  bool has_near_ = true, has_far_ = false;
};

/// f(std::type_identity<Scores>()) for the scores of a problem.
template <class T, class F>
auto dispatch_scores(const Problem<T>& p, const F& f) {
  const auto run = [&](auto kind) {
    using Scores = typename decltype(kind)::type;
    if (p.mask.is_on()) return f(std::type_identity<DroppingScores<Scores>>());
    return f(kind);
  };
  const ScoreKind kind = p.score_kind();
  if constexpr (std::is_same_v<T, BFloat16>) {
    if (kind == ScoreKind::plain) return run(std::type_identity<PlainScores<T>>());
    if (kind == ScoreKind::row_bias) return f(std::type_identity<RowBiasScores<T>>());
  }
  return run(std::type_identity<GeneralScores<T>>());
}

/// Blocks that a multiprocessor is to hold at once: what limits a thread's registers.
template <int D, class Scores>
inline constexpr int kBlocks = D >= 128 || Scores::kIsGeneral || (Scores::kDrops && D >= 64) ? 2
                                                                                             : 3;

/// Replaces dot products of far pairs by the dot products of their far copies, in a warp's rows
/// from `row` on and pieces from `column` on, both this lane's first. kKeysAreRows: of keys by
/// queries.
template <bool kKeysAreRows, class Scores, int kPieces>
__device__ void take_far(const Scores& scores, float (&dots)[kPieces][4],
                         const float (&far)[kPieces][4], int row, int column) {
#pragma unroll
  for (int n = 0; n < kPieces; ++n)
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      const int i = row + x / 2 * 8, j = column + 8 * n + x % 2;
      if (kKeysAreRows ? scores.is_far(j, i) : scores.is_far(i, j)) dots[n][x] = far[n][x];
    }
}

}  // namespace farfield::attention_cuda
