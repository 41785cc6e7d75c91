#pragma once
// Plain scores: of pairs at a distance, with a table by it at most, which a block loads beside its
// tiles; masks apart, and softmax by 2^x.

#include "engine/cuda/attention_problem.cuh"
#include "engine/cuda/copy_bulk.cuh"
#include "engine/cuda/exp2.cuh"

namespace farfield::attention_cuda {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The score of a pair, and what its gradients need.
struct Score {
  float value = 0;    ///< content * weight + bias; -inf for a hidden pair
  float content = 0;  ///< the scaled dot product
  float weight = 1;
};

/// Which tables by distance exist, as far as a kernel knows it at compile time. unknown: checked
/// for each pair; asked: checked once for a tile; feature: the table of a row bias.
enum class Tables { none, bias, weight, both, unknown, asked, feature };
constexpr bool has_weight(Tables tables) {
  return tables == Tables::weight || tables == Tables::both || tables == Tables::unknown;
}
/// Whether a table, bias or weight, is known to be among them.
constexpr bool includes(Tables tables, Tables table) {
  return tables == table || tables == Tables::both;
}
/// The same; where that is not known, whether it is not null.
template <Tables kTables, Tables kTable>
__device__ bool has(const float* table) {
  static_assert(kTables != Tables::asked);
  return kTables == Tables::unknown ? table != nullptr : includes(kTables, kTable);
}

/// The scores of PlainScores in a tile, where it is known which tables there are.
template <class Plain, Tables kTables>
struct TileScores {
  static constexpr bool kIsLean = !has_weight(kTables);  ///< a pair takes few registers
  /// Whether a score is a dot product times a factor.
  static constexpr bool kIsProduct = kTables == Tables::none;
  const Plain& scores;

  __device__ Score operator()(float dot, float factor, int i, int j) const {
    return scores.template score<kTables>(dot, factor, i, j);
  }
};

/// The common part of plain scores: a tile's distances, its hidden pairs, and the exponential.
template <class T>
class PlainTile {
 public:
  static constexpr bool kIsGeneral = false, kDrops = false;
  static constexpr float kShiftUnit = 1.44269504089f;  ///< log2(e)
  /// Most distances of a tile, beginning with the distance of its first query and last key.
  static constexpr int kDistances = 3 * kTile;

  /// From now on, of this tile, n_query by n_key.
  __device__ void start_tile(int query, int n_query, int key, int n_key) {
    offset_ = p_.first_position() + query - key;
    open_sinks_ = p_.sinks - key;
    start_part(0, n_query, 0, n_key);
  }
  /// From now on, of the pairs of n_query of its queries and n_key of its keys alone. Whether any
  /// of these queries sees one of these keys.
  __device__ bool start_part(int query, int n_query, int key, int n_key) {
    const int distance = offset_ + query - key;
    const int lowest = distance - (n_key - 1), highest = distance + n_query - 1;
    is_masked_ = lowest < 0 || (p_.window > 0 && highest >= p_.window);
    return highest >= 0 && (p_.window == 0 || lowest < p_.window || open_sinks_ > key);
  }
  /// Sets the values of hidden pairs to `hidden`, of queries by keys or of kKeysAreRows.
  /// for_pairs(hide) calls hide(value of a pair, its row and column from `row` and `column` on) for
  /// all pairs, or for none. As a separate step it does not depend on the tables, and takes few
  /// registers.
  template <bool kKeysAreRows, class F>
  __device__ void hide(int row, int column, float hidden, const F& for_pairs) const {
    if (!is_masked_) return;
    const int query = kKeysAreRows ? column : row, key = kKeysAreRows ? row : column;
    const int distance = offset_ + query - key, sinks = open_sinks_ - key;
    const auto hide_if = [&](auto&& is_hidden) {
      for_pairs([&](float& value, int r, int c) {
        const int i = kKeysAreRows ? c : r, j = kKeysAreRows ? r : c;
        if (is_hidden(j - i, j)) value = hidden;
      });
    };
    hide_if([&](int back, int) { return distance < back; });
    if (p_.window > 0) {
      const int out = distance - p_.window;
      hide_if([&](int back, int j) { return out >= back && j >= sinks; });
    }
  }
  /// exp(x), and exp(score - shift / kShiftUnit) by no more instructions than a difference takes.
  __device__ static float exp(float x) { return approximate_exp2(x * kShiftUnit); }
  __device__ static float exp(float score, float shift) { return exp_of_product(score, 1, shift); }
  /// exp(dot * factor - shift / kShiftUnit), the same.
  __device__ static float exp_of_product(float dot, float factor, float shift) {
    return approximate_exp2(std::fma(dot, factor * kShiftUnit, -shift));
  }

 protected:
  __device__ explicit PlainTile(const Problem<T>& p) : p_(p) {}

  /// f(x, d) for each x of up to n that a tile reads, at distance d, by all threads.
  template <int kThreads, int n, class F>
  __device__ void for_distances(int query, int n_query, int key, int n_key, const F& f) const {
    const int thread = thread_read_anew();
#pragma unroll
    for (int first = 0; first < n_query + n_key - 1; first += kThreads) {
      const int x = first + thread;
      if (first + kThreads > n && x >= n) continue;
      f(x, p_.first_position() + query - key - (n_key - 1) + x);
    }
  }
  const Problem<T>& p_;

 private:
  bool is_masked_ = false;
  int offset_ = 0, open_sinks_ = 0;
};

/// For bulk copies of what tiles read of tables by distance.
struct TableMaps {
  TensorMap bias, weight;
};

/// A table by distance at most.
template <class T>
class PlainScores : public PlainTile<T> {
 public:
  static constexpr bool kAddsRowBias = false, kCopiesInBulk = true;
  struct alignas(16) Shared {
    float bias[PlainTile<T>::kDistances], weight[PlainTile<T>::kDistances];
  };
  /// The table values that warpgroup kernels load for a tile of fewer than n distances, here by TMA
  /// copies of kBoxes boxes. The first begins at a multiple of 4, up to three distances before the
  /// first distance of the tile.
  template <int n>
  struct alignas(128) Loaded {
    static constexpr int kCopied = n + 4;  // at least
    static constexpr int kBoxes = kCopied <= kMostOfBox ? 1 : 2;
    static constexpr int kSize = ((kCopied + kBoxes - 1) / kBoxes + 31) / 32 * 32;  // of a box
    static constexpr int kBox = kBoxes == 1 ? kCopied : kSize;
    float bias[kBoxes][kSize], weight[kBoxes][kSize];
  };

  __device__ PlainScores(const Problem<T>& p, const Head& head)
      : PlainTile<T>(p), table_(int64_t{head.h} * p.n_entry) {}

  /// Begins to load the table values for the tile of queries from `query` and keys from `key` on.
  template <int kThreads = kBlock>
  __device__ void load(Shared& shared, int query, int n_query, int key, int n_key) const {
    if (!p_.bias && !p_.weight) return;
    constexpr int n = PlainTile<T>::kDistances;
    this->template for_distances<kThreads, n>(query, n_query, key, n_key, [&](int x, int d) {
      const bool is_there = d >= 0 && d < p_.n_key;
      const int64_t at = table_ + d;  // read if it is there
      if (p_.bias) copy_async<4>(&shared.bias[x], p_.bias + at, is_there);
      if (p_.weight) copy_async<4>(&shared.weight[x], p_.weight + at, is_there);
    });
  }
  /// The same by bulk copies, of boxes of kBox floats, by one thread. Hidden pairs may get what
  /// another head has.
  template <int n>
  __device__ void copy(Loaded<n>& shared, const TableMaps& maps, int query, int key, int n_key,
                       CopyBarrier& barrier) const {
    const int first = first_entry(query, key, n_key) & -4;
#pragma unroll
    for (int i = 0; i < Loaded<n>::kBoxes; ++i) {
      const int at = first + i * Loaded<n>::kBox;
      if (p_.bias) copy_box(shared.bias[i], maps.bias, at, barrier);
      if (p_.weight) copy_box(shared.weight[i], maps.weight, at, barrier);
    }
  }
  template <int n>
  __device__ int copied_bytes(const Loaded<n>&) const {
    return ((p_.bias ? 1 : 0) + (p_.weight ? 1 : 0)) * Loaded<n>::kBoxes * Loaded<n>::kBox *
           int{sizeof(float)};
  }
  /// From now on, of this tile, n_query by n_key.
  __device__ void start_tile(const Shared& shared, int query, int n_query, int key, int n_key) {
    bias_ = &shared.bias[n_key - 1];
    weight_ = &shared.weight[n_key - 1];
    PlainTile<T>::start_tile(query, n_query, key, n_key);
  }
  template <int n>
  __device__ void start_tile(const Loaded<n>& shared, int query, int n_query, int key, int n_key) {
    const int own = n_key - 1 + (first_entry(query, key, n_key) & 3);
    bias_ = &shared.bias[0][own];
    weight_ = &shared.weight[0][own];
    PlainTile<T>::start_tile(query, n_query, key, n_key);
  }

  /// f(TileScores) for the tile. The scores treat all pairs as visible: hide() the others.
  template <Tables kTables, class F>
  __device__ void for_tile(const F& f) const {
    if constexpr (kTables != Tables::asked)
      f(TileScores<PlainScores, kTables>{*this});
    else if (p_.weight && p_.bias)
      f(TileScores<PlainScores, Tables::both>{*this});
    else if (p_.weight)
      f(TileScores<PlainScores, Tables::weight>{*this});
    else if (p_.bias)
      f(TileScores<PlainScores, Tables::bias>{*this});
    else
      f(TileScores<PlainScores, Tables::none>{*this});
  }
  /// Of query i and key j of the tile, from its dot product and Row::factor.
  template <Tables kTables>
  __device__ Score score(float dot, float factor, int i, int j) const {
    const float bias = has<kTables, Tables::bias>(p_.bias) ? bias_[i - j] : 0;
    Score score{std::fma(dot, factor, bias), dot * factor, 1};
    if (has<kTables, Tables::weight>(p_.weight)) {
      score.weight = weight_[i - j];
      score.value = std::fma(score.content, score.weight, bias);
    }
    return score;
  }

 private:
  // Where the tables have the least distance of a tile, if there is one.
  __device__ int first_entry(int query, int key, int n_key) const {
    return static_cast<int>(table_) + p_.first_position() + query - key - (n_key - 1);
  }

  using PlainTile<T>::p_;
  int64_t table_;
  const float *bias_ = nullptr, *weight_ = nullptr;  // of query 0 and key 0
};

}  // namespace farfield::attention_cuda
