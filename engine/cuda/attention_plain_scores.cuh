#pragma once
// Plain scores: of pairs at a distance, with a table by it at most, which a block loads beside its
// tiles; masks apart, and softmax by 2^x.

#include "engine/cuda/attention_problem.cuh"
#include "engine/cuda/exp2.cuh"

namespace farfield::attention_cuda {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The score of a pair, and what its gradients need.
struct Score {
  float value;    ///< content * weight + bias; -inf for a hidden pair
  float content;  ///< the scaled dot product
  float weight;
};

/// Which tables by distance there are, where that is known when a kernel is compiled. unknown:
/// asked for each pair; asked: once for a tile; feature: that of a row bias.
enum class Tables { none, bias, weight, both, unknown, asked, feature };
constexpr bool has_weight(Tables tables) {
  return tables == Tables::weight || tables == Tables::both || tables == Tables::unknown;
}
/// Whether kTable, bias or weight, is among them; where that is not known, whether it is not null.
template <Tables kTables, Tables kTable>
__device__ bool has(const float* table) {
  static_assert(kTables != Tables::asked);
  return kTables == Tables::unknown ? table != nullptr
                                    : kTables == kTable || kTables == Tables::both;
}

/// The scores of PlainScores in a tile, where it is known which tables there are.
template <class Plain, Tables kTables>
struct TileScores {
  static constexpr bool kIsLean = !has_weight(kTables);  ///< a pair takes few registers
  const Plain& scores;

  __device__ Score operator()(float dot, float factor, int i, int j) const {
    return scores.template score<kTables>(dot, factor, i, j);
  }
};

/// What plain scores share: a tile's distances, which of its pairs are hidden, and the exponential.
template <class T>
class PlainTile {
 public:
  static constexpr bool kIsGeneral = false, kDrops = false;
  static constexpr float kShiftUnit = 1.44269504089f;  ///< log2(e)
  /// Of what tables have by distance, the part that a tile reads: from kTile - 1 below the distance
  /// of its first query and key on, at most 2 kTile queries by kTile keys.
  static constexpr int kDistances = 3 * kTile;

  /// From now on, of this tile, n_query by n_key.
  __device__ void start_tile(int query, int n_query, int key, int n_key) {
    offset_ = p_.first_position() + query - key;
    open_sinks_ = p_.sinks - key;
    start_rows(0, n_query, n_key);
  }
  /// From now on, of n rows of the tile alone. Whether they see any of its keys.
  __device__ bool start_rows(int first, int n, int n_key) {
    const int lowest = offset_ + first - n_key + 1, highest = offset_ + first + n - 1;
    is_masked_ = lowest < 0 || (p_.window > 0 && highest >= p_.window);
    return highest >= 0 && (p_.window == 0 || lowest < p_.window || open_sinks_ > 0);
  }
  /// s: what pairs have in this lane's rows from `row` on, 8 apart, and its columns from `column`
  /// on, of queries by keys or of kKeysAreRows; that of hidden pairs becomes `hidden`. As a step of
  /// its own it is the same whatever tables there are, and takes few registers.
  template <bool kKeysAreRows, int kGroups, int kPieces>
  __device__ void hide(float (&s)[kGroups][kPieces][4], int row, int column, float hidden) const {
    if (!is_masked_) return;
    const int query = kKeysAreRows ? column : row, key = kKeysAreRows ? row : column;
    const int distance = offset_ + query - key, sinks = open_sinks_ - key;
    const auto hide_if = [&](auto&& is_hidden) {
#pragma unroll
      for (int g = 0; g < kGroups; ++g)
#pragma unroll
        for (int n = 0; n < kPieces; ++n)
#pragma unroll
          for (int x = 0; x < 4; ++x) {
            const int r = 16 * g + 8 * (x / 2), c = 8 * n + x % 2;
            const int i = kKeysAreRows ? c : r, j = kKeysAreRows ? r : c;
            if (is_hidden(j - i, j)) s[g][n][x] = hidden;
          }
    };
    hide_if([&](int back, int) { return distance < back; });
    if (p_.window > 0) {
      const int out = distance - p_.window;
      hide_if([&](int back, int j) { return out >= back && j >= sinks; });
    }
  }
  /// exp(x), and exp(score - shift / kShiftUnit) by no more instructions than a difference takes.
  __device__ static float exp(float x) { return approximate_exp2(x * kShiftUnit); }
  __device__ static float exp(float score, float shift) {
    return approximate_exp2(std::fma(score, kShiftUnit, -shift));
  }

 protected:
  __device__ explicit PlainTile(const Problem<T>& p) : p_(p) {}

  /// f(x, d) for each x of kDistances that a tile of n_query queries reads, at distance d, by all
  /// threads.
  template <class F>
  __device__ void for_distances(int query, int n_query, int key, const F& f) const {
    static_assert(kBlock <= kDistances);
    const int thread = thread_read_anew();
#pragma unroll
    for (int first = 0; first < n_query + kTile - 1; first += kBlock) {
      const int x = first + thread;
      if (first + kBlock > kDistances && x >= kDistances) continue;
      f(x, p_.first_position() + query - key - (kTile - 1) + x);
    }
  }
  const Problem<T>& p_;

 private:
  bool is_masked_ = false;
  int offset_ = 0, open_sinks_ = 0;
};

/// A table by distance at most.
template <class T>
class PlainScores : public PlainTile<T> {
 public:
  static constexpr bool kAddsRowBias = false;
  struct alignas(16) Shared {
    float bias[PlainTile<T>::kDistances], weight[PlainTile<T>::kDistances];
  };

  __device__ PlainScores(const Problem<T>& p, const Head& head)
      : PlainTile<T>(p), table_(int64_t{head.h} * p.n_entry) {}

  /// Begins to load what the tile of queries from `query` and keys from `key` on reads.
  __device__ void load(Shared& shared, int query, int n_query, int key, int /*n_key*/) const {
    if (!p_.bias && !p_.weight) return;
    this->for_distances(query, n_query, key, [&](int x, int d) {
      const bool is_there = d >= 0 && d < p_.n_key;
      const int64_t at = table_ + d;  // read if it is there
      if (p_.bias) copy_async<4>(&shared.bias[x], p_.bias + at, is_there);
      if (p_.weight) copy_async<4>(&shared.weight[x], p_.weight + at, is_there);
    });
  }
  /// From now on, of this tile, n_query by n_key.
  __device__ void start_tile(const Shared& shared, int query, int n_query, int key, int n_key) {
    shared_ = &shared;
    PlainTile<T>::start_tile(query, n_query, key, n_key);
  }

  /// f(TileScores) for the tile, which take all pairs for seen: hide() those that are not.
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
    const int x = i - j + kTile - 1;
    const float bias = has<kTables, Tables::bias>(p_.bias) ? shared_->bias[x] : 0;
    Score score{std::fma(dot, factor, bias), dot * factor, 1};
    if (has<kTables, Tables::weight>(p_.weight)) {
      score.weight = shared_->weight[x];
      score.value = std::fma(score.content, score.weight, bias);
    }
    return score;
  }

 private:
  using PlainTile<T>::p_;
  int64_t table_;
  const Shared* shared_ = nullptr;
};

}  // namespace farfield::attention_cuda
