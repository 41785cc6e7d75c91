#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/cuda/attention_order.h"
#include "engine/cuda/attention_tile.cuh"
#include "engine/kernels/attention.h"
#include "engine/kernels/attention_dropout.h"

namespace farfield::attention_cuda {

template <class T>
const T* data_or_null(const Tensor& x) {
  return x.defined() ? x.data<T>() : nullptr;
}
template <class T>
T* data_or_null(Tensor& x) {
  return x.defined() ? x.data<T>() : nullptr;
}

/// BackendError for heads that the tiles do not hold.
inline void check_head_dim(int64_t head_dim) {
  require<BackendError>(head_dim <= 256, "attention",
                        "expected a head_dim of at most 256 on a CUDA device, got ", head_dim,
                        "; use more heads, or the CPU");
}

/// BackendError for more rows than are counted in 32 bits.
inline void check_rows(const Heads& heads) {
  const Tensor& most = heads.packed.defined() ? heads.packed : heads.k;
  require<BackendError>(most.numel() / heads.k.dim(3) <= std::numeric_limits<int>::max(),
                        "attention",
                        "expected fewer than 2^31 rows of a head on a CUDA device, got ",
                        most.numel() / heads.k.dim(3));
}

/// f(integral_constant<int, D>()), D the smallest size of tiles that holds head_dim.
template <class F>
void dispatch_head_dim(int head_dim, const F& f) {
  if (head_dim <= 32)
    f(std::integral_constant<int, 32>());
  else if (head_dim <= 64)
    f(std::integral_constant<int, 64>());
  else if (head_dim <= 128)
    f(std::integral_constant<int, 128>());
  else
    f(std::integral_constant<int, 256>());
}

/// Bias by distance and query, of all heads.
struct RowBiasTables {
  const float *feature = nullptr, *row_factor = nullptr, *knots = nullptr;
  const float *slope = nullptr, *offset = nullptr;  ///< by head and segment
  int n_knot = 0;

  explicit RowBiasTables(const RowBias& bias) {
    if (!bias.feature.defined()) return;
    feature = bias.feature.data<float>();
    row_factor = bias.row_factor.data<float>();
    knots = bias.knots.data<float>();
    slope = bias.slope.data<float>();
    offset = bias.offset.data<float>();
    n_knot = static_cast<int>(bias.knots.numel());
  }

  FARFIELD_HD int n_segment() const { return n_knot + 1; }
  /// The segment of an argument.
  __device__ int segment_of(float x) const {
    int begin = 0, end = n_knot;
    while (begin < end) {
      const int middle = (begin + end) / 2;
      if (x < knots[middle])
        end = middle;
      else
        begin = middle + 1;
    }
    return begin;
  }
  /// The same, looked for from another one on: neighbours in a tile are close.
  __device__ int segment_from(int segment, float x) const {
    while (segment < n_knot && !(x < knots[segment])) ++segment;
    while (segment > 0 && x < knots[segment - 1]) --segment;
    return segment;
  }
};

/// How a problem's scores are formed (attention_scores.cuh).
enum class ScoreKind { plain, row_bias, general };

/// The tiles that a tile sees: [0, n_first) and [begin, end).
struct TileList {
  int n_first, begin, end;
  __device__ int count() const { return n_first + (end > begin ? end - begin : 0); }
  __device__ int at(int i) const { return i < n_first ? i : begin + i - n_first; }
  /// The same list, which all lanes of a warp have.
  __device__ TileList in_uniform() const {
    return {uniform(n_first), uniform(begin), uniform(end)};
  }
};

/// A head of a sequence.
struct Head {
  int batch, h;
};
/// The rows of one head, in rows of head_dim elements, 2^31 of which no tensor has (check_rows()).
struct HeadRows {
  int begin, step;  ///< of the first, and from one to the next
  int count;
};

/// Sizes and pointers of one call. Positions, and numbers compared with them, are capped to the
/// number of keys, so that they are ints.
template <class T>
struct Problem {
  Problem(const Heads& heads, const AttentionRule& rule)
      : n_batch(static_cast<int>(heads.q.dim(0))),
        n_head(static_cast<int>(heads.q.dim(1))),
        n_query(static_cast<int>(heads.q.dim(2))),
        n_key(static_cast<int>(heads.k.dim(2))),
        head_dim(static_cast<int>(heads.q.dim(3))),
        window(capped(rule.window)),
        sinks(capped(rule.sinks)),
        switch_distance(capped(rule.switch_distance)),
        switch_position(capped(rule.switch_position)),
        row_step(heads.packed.defined() ? 3 * n_head : 1),
        is_packed(heads.packed.defined()),
        scale(static_cast<float>(1 / std::sqrt(static_cast<double>(head_dim)))),
        q(heads.q.data<T>()),
        k(heads.k.data<T>()),
        v(heads.v.data<T>()),
        far_q(data_or_null<T>(heads.far.q)),
        far_k(data_or_null<T>(heads.far.k)),
        bias(data_or_null<float>(rule.bias)),
        weight(data_or_null<float>(rule.weight)),
        row_scale(data_or_null<float>(rule.row_scale)),
        ids(data_or_null<int32_t>(rule.ids)),
        far_ids_q(data_or_null<int32_t>(rule.far_ids_q)),
        far_ids_k(data_or_null<int32_t>(rule.far_ids_k)),
        ids_per_sequence(rule.ids.defined() && rule.ids.rank() == 2),
        n_entry(static_cast<int>(rule.bias.defined()     ? rule.bias.dim(1)
                                 : rule.weight.defined() ? rule.weight.dim(1)
                                                         : heads.k.dim(2))),
        row_bias(rule.row_bias),
        kind(rule.normalizer.kind),
        is_relu(rule.normalizer.is_relu()),
        is_clamped(rule.normalizer.is_clamped()),
        divides_by_sum(rule.normalizer.divides_by_sum()),
        parameter(rule.normalizer.parameter),
        penalty(rule.normalizer.penalty),
        mask(rule.dropout, n_head, n_query, n_key) {
    constexpr int64_t kCacheBytes = int64_t{16} << 20;  // of 40 MB or more
    const int64_t bytes = 2 * int64_t{n_key} * head_dim * int64_t{sizeof(T)};
    const int64_t n_held =
        std::min<int64_t>(kCacheBytes / std::max<int64_t>(bytes, 1), this->heads());
    n_together = static_cast<int>(std::max<int64_t>(n_held, 1));
    group_size = n_head / static_cast<int>(heads.k.dim(1));
  }

  int n_batch, n_head, n_query, n_key, head_dim;
  int window, sinks;
  int switch_distance, switch_position;
  int row_step;    ///< HeadRows::step of q, k and v
  bool is_packed;  ///< Heads::packed
  float scale;
  const T *q, *k, *v;
  const T *far_q, *far_k;  ///< null: far pairs take q and k too
  const float *bias, *weight, *row_scale;
  const int *ids, *far_ids_q, *far_ids_k;
  bool ids_per_sequence;
  int n_entry;  ///< of bias and weight, per head
  RowBiasTables row_bias;
  Normalizer::Kind kind;
  bool is_relu, is_clamped, divides_by_sum;
  double parameter, penalty;
  AttentionMask mask;
  int n_together;  ///< heads of all sequences whose keys and values a cache holds
  int group_size;  ///< heads that share a head of k and v; 1 for packed heads

  ScoreKind score_kind() const {
    if (!std::is_same_v<T, BFloat16> || group_size > 1 || far_q || ids || far_ids_q || is_relu ||
        is_clamped)
      return ScoreKind::general;
    if (!row_bias.feature) return ScoreKind::plain;
    return bias || weight || mask.is_on() ? ScoreKind::general : ScoreKind::row_bias;
  }
  /// Heads of all sequences, and a head as one of them.
  FARFIELD_HD int heads() const { return n_batch * n_head; }
  FARFIELD_HD Head head_at(int index) const { return {index / n_head, index % n_head}; }
  FARFIELD_HD int index_of(const Head& head) const { return head.batch * n_head + head.h; }
  /// Position of query 0.
  FARFIELD_HD int first_position() const { return n_key - n_query; }

  /// The rows of k or v that a head takes. Grouped heads are for general scores alone: elsewhere
  /// registers are full.
  template <class Scores>
  __device__ HeadRows key_rows_of(const Head& head) const {
    if constexpr (Scores::kIsGeneral)
      if (group_size > 1) return {index_of(head) / group_size * n_key, 1, n_key};
    return rows_of(head, n_key);
  }
  /// The rows of a head in a tensor with n_rows rows for each head, packed as q is.
  __device__ HeadRows rows_of(const Head& head, int n_rows) const {
    return {is_packed ? (head.batch * n_rows * n_head + head.h) * 3 : index_of(head) * n_rows,
            row_step, n_rows};
  }
  /// The rows of a head in a tensor [B, T, H, K].
  __device__ HeadRows token_rows_of(const Head& head) const {
    return {head.batch * n_query * n_head + head.h, n_head, n_query};
  }
  /// Whether 16 bytes of the rows of x may be moved at once.
  template <class X>
  FARFIELD_HD bool can_move_pieces(const X* x) const {
    return head_dim % kPieceSize<X> == 0 && farfield::is_aligned(x);
  }
  /// Rows i, i + 1, ... of a head in x.
  template <class X>
  __device__ Rows<X> rows(X* x, const HeadRows& of, int i) const {
    return {x + static_cast<int64_t>(of.begin + i * of.step) * head_dim, of.step * head_dim,
            of.count - i, head_dim, can_move_pieces(x)};
  }

  /// The row factor of the row bias; a query beyond the last one has the factor of the last.
  __device__ float row_factor_of(int query) const {
    return row_bias.row_factor[query < n_query ? query : n_query - 1];
  }
  /// Whether query i sees key n.
  __device__ bool sees(int i, int n) const {
    const int d = first_position() + i - n;
    return i < n_query && d >= 0 && (window == 0 || d < window || n < sinks);
  }
  /// Whether a pair at distance d, the query at position m, is far.
  __device__ bool is_far(int m, int d) const {
    return switch_distance > 0 && d >= switch_distance && m >= switch_position;
  }
  /// Tiles of kCols keys that queries [i, i + kOwn) see.
  template <int kOwn, int kCols>
  __device__ TileList key_tiles(int i) const {
    const int m = first_position() + i;
    const int last = m + kOwn - 1 < n_key - 1 ? m + kOwn - 1 : n_key - 1;
    const int first = window > 0 && m - window + 1 > 0 ? m - window + 1 : 0;
    const int begin = first / kCols, sink_tiles = (sinks + kCols - 1) / kCols;
    return {window == 0 ? 0 : sink_tiles < begin ? sink_tiles : begin, begin, last / kCols + 1};
  }
  /// Tiles of kRows queries that see keys [n, n + kOwn).
  template <int kOwn, int kRows>
  __device__ TileList query_tiles(int n) const {
    const int first = n > first_position() ? n - first_position() : 0;
    int end = n_query;
    if (window > 0 && n >= sinks) {
      const int64_t out = int64_t{n} + kOwn - 1 + window - first_position();
      end = out < 0 ? 0 : out < n_query ? static_cast<int>(out) : n_query;
    }
    return {0, first / kRows, (end + kRows - 1) / kRows};
  }

 private:
  int capped(int64_t x) const { return static_cast<int>(std::min<int64_t>(x, n_key)); }
};

}  // namespace farfield::attention_cuda
