#pragma once
// Dot products to scores, pair by pair. Three kinds with one interface: PlainScores for what is
// common, a table by distance at most, GeneralScores for everything but dropout, and DroppingScores
// with that too.

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
/// asked for each pair; asked: once for a tile.
enum class Tables { none, bias, weight, both, unknown, asked };
/// Whether kTable, bias or weight, is among them; where that is not known, whether it is not null.
template <Tables kTables, Tables kTable>
__device__ bool has(const float* table) {
  static_assert(kTables != Tables::asked);
  return kTables == Tables::unknown ? table != nullptr
                                    : kTables == kTable || kTables == Tables::both;
}

/// The scores of PlainScores in a tile, where it is known which tables there are and whether a pair
/// may be hidden.
template <class Plain, bool kMasked, Tables kTables>
struct TileScores {
  const Plain& scores;

  __device__ Score operator()(float dot, float factor, int i, int j) const {
    return scores.template score<kMasked, kTables>(dot, factor, i, j);
  }
};

/// Only for Problem::is_plain().
template <class T>
class PlainScores {
 public:
  static constexpr bool kIsGeneral = false, kDrops = false;
  static constexpr float kShiftUnit = 1.44269504089f;  ///< log2(e)
  /// The part of the head's tables that a tile reads, by distance from kTile - 1 below that of its
  /// first query and key: at most 2 kTile queries by kTile keys.
  struct alignas(16) Shared {
    static constexpr int kDistances = 3 * kTile;
    float bias[kDistances], weight[kDistances];
  };

  __device__ PlainScores(const Problem<T>& p, const Head& head)
      : p_(p), table_(int64_t{head.h} * p.n_entry) {}

  /// Begins to load what the tile of queries from `query` and keys from `key` on reads.
  __device__ void load(Shared& shared, int query, int n_query, int key, int /*n_key*/) const {
    if (!p_.bias && !p_.weight) return;
    static_assert(kBlock <= Shared::kDistances);
    const int thread = thread_read_anew();
#pragma unroll
    for (int first = 0; first < n_query + kTile - 1; first += kBlock) {
      const int x = first + thread;
      if (first + kBlock > Shared::kDistances && x >= Shared::kDistances) continue;
      const int d = p_.first_position() + query - key - (kTile - 1) + x;
      const bool is_there = d >= 0 && d < p_.n_key;
      const int64_t at = table_ + d;  // read if it is there
      if (p_.bias) copy_async<4>(&shared.bias[x], p_.bias + at, is_there);
      if (p_.weight) copy_async<4>(&shared.weight[x], p_.weight + at, is_there);
    }
  }
  /// From now on, of this tile, n_query by n_key.
  __device__ void start_tile(const Shared& shared, int query, int n_query, int key, int n_key) {
    shared_ = &shared;
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

  /// f(TileScores) that take all pairs for seen; which of them hide() then.
  template <class F>
  __device__ void for_tile_without_mask(const F& f) const {
    for_tables<false, Tables::asked>(f);
  }
  /// s: the scores of pairs in this lane's rows from `row` on, 8 apart, and its columns from
  /// `column` on; those of hidden pairs become -inf. As a step of its own it is the same whatever
  /// tables there are, and takes few registers.
  template <int kGroups, int kPieces>
  __device__ void hide(float (&s)[kGroups][kPieces][4], int row, int column) const {
    if (!is_masked_) return;
    const int distance = offset_ + row - column, sinks = open_sinks_ - column;
    const auto hide_if = [&](auto&& is_hidden) {
#pragma unroll
      for (int g = 0; g < kGroups; ++g)
#pragma unroll
        for (int n = 0; n < kPieces; ++n)
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const int j = 8 * n + i % 2, back = j - 16 * g - 8 * (i / 2);
            if (is_hidden(back, j)) s[g][n][i] = -kInfinity;
          }
    };
    hide_if([&](int back, int) { return distance < back; });
    if (p_.window > 0) {
      const int out = distance - p_.window;
      hide_if([&](int back, int j) { return out >= back && j >= sinks; });
    }
  }

  /// f(TileScores) for the tile. It takes registers to know of tables, and of both beside a mask it
  /// takes too many.
  template <Tables kTables, class F>
  __device__ void for_tile(const F& f) const {
    constexpr Tables kOfMasked = kTables == Tables::both ? Tables::unknown : kTables;
    if (is_masked_)
      for_tables<true, kOfMasked>(f);
    else
      for_tables<false, kTables>(f);
  }
  /// Of query i and key j of the tile, from its dot product and Row::factor.
  template <bool kMasked, Tables kTables>
  __device__ Score score(float dot, float factor, int i, int j) const {
    const int x = i - j + kTile - 1;
    const float bias = has<kTables, Tables::bias>(p_.bias) ? shared_->bias[x] : 0;
    Score score{std::fma(dot, factor, bias), dot * factor, 1};
    if (has<kTables, Tables::weight>(p_.weight)) {
      score.weight = shared_->weight[x];
      score.value = std::fma(score.content, score.weight, bias);
    }
    if constexpr (kMasked) {
      const int d = offset_ + i - j;
      if (d < 0 || (p_.window > 0 && d >= p_.window && j >= open_sinks_)) score.value = -kInfinity;
    }
    return score;
  }
  /// exp(x), and exp(score - shift / kShiftUnit) by no more instructions than a difference takes.
  __device__ static float exp(float x) { return approximate_exp2(x * kShiftUnit); }
  __device__ static float exp(float score, float shift) {
    return approximate_exp2(std::fma(score, kShiftUnit, -shift));
  }

 private:
  template <bool kMasked, Tables kTables, class F>
  __device__ void for_tables(const F& f) const {
    if constexpr (kTables != Tables::asked)
      f(TileScores<PlainScores, kMasked, kTables>{*this});
    else if (p_.weight && p_.bias)
      f(TileScores<PlainScores, kMasked, Tables::both>{*this});
    else if (p_.weight)
      f(TileScores<PlainScores, kMasked, Tables::weight>{*this});
    else if (p_.bias)
      f(TileScores<PlainScores, kMasked, Tables::bias>{*this});
    else
      f(TileScores<PlainScores, kMasked, Tables::none>{*this});
  }

  const Problem<T>& p_;
  int64_t table_;
  const Shared* shared_ = nullptr;
  int offset_ = 0, open_sinks_ = 0;
  bool is_masked_ = false;
};

/// Everything that attention() knows, decided pair by pair.
template <class T>
class GeneralScores {
 public:
  static constexpr bool kIsGeneral = true, kDrops = false;
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
    // One rounding for certain, so that both passes get the same scores.
    score.value = std::fma(score.content, score.weight, bias);
    if (p_.row_bias.feature) {
      const float x = p_.row_bias.feature[d] * p_.row_bias.row_factor[query];
      const int64_t at = segment_of(x);
      score.value += std::fma(p_.row_bias.slope[at], x, p_.row_bias.offset[at]);
    }
    return score;
  }
  /// Where the slope and offset for this argument of the row bias are. Neighbours in a tile are
  /// close, so it looks for the segment from the last one on.
  __device__ int64_t segment_of(float x) {
    const float* const knots = p_.row_bias.knots;
    const int n = p_.row_bias.n_knot;
    while (segment_ < n && !(x < knots[segment_])) ++segment_;
    while (segment_ > 0 && x < knots[segment_ - 1]) --segment_;
    return int64_t{h_} * (n + 1) + segment_;
  }
  /// The slope of the row bias at a pair that is seen.
  __device__ float slope(int i, int j) {
    const int query = query_ + i, d = p_.first_position() + query - key_ - j;
    return p_.row_bias.slope[segment_of(p_.row_bias.feature[d] * p_.row_bias.row_factor[query])];
  }
  __device__ static float exp(float x) { return std::exp(x); }
  __device__ static float exp(float score, float shift) { return std::exp(score - shift); }

 protected:
  const Problem<T>& p_;

 private:
  // The entry of the tables for these ids, or -1 for one outside of them: nobody has looked at the
  // ids, since reading them back would stall the device. The difference is exact where it is kept.
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

/// The same where P is dropped: kernels of their own, so that the others have their registers.
template <class T>
class DroppingScores : public GeneralScores<T> {
 public:
  static constexpr bool kDrops = true;
  static constexpr int kGroup = DropoutMask::kGroup;
  /// Which pairs of a tile stay: bit j % kGroup of a query and key j.
  struct alignas(16) Shared {
    uint8_t kept[kTile][kTile / kGroup];
  };

  __device__ DroppingScores(const Problem<T>& p, const Head& head)
      : GeneralScores<T>(p, head),
        head_(p.index_of(head)),
        scale_(static_cast<float>(p.mask.scale())) {}

  /// By all threads, who wait for each other then.
  __device__ void load(Shared& shared, int query, int n_query, int key, int n_key) const {
    const int n_group = n_key / kGroup;
#pragma unroll 1
    for (int x = static_cast<int>(threadIdx.x); x < n_query * n_group; x += kBlock) {
      const int i = x / n_group, group = x % n_group;
      const PhiloxBlock bits = this->p_.mask.bits(head_, query + i, key / kGroup + group);
      unsigned kept = 0;
#pragma unroll
      for (int j = 0; j < kGroup; ++j)
        kept |= static_cast<unsigned>(this->p_.mask.keeps(bits, j)) << j;
      shared.kept[i][group] = static_cast<uint8_t>(kept);
    }
  }
  __device__ void start_tile(const Shared& shared, int query, int n_query, int key, int n_key) {
    shared_ = &shared;
    GeneralScores<T>::start_tile({}, query, n_query, key, n_key);
  }
  /// What P of a pair is multiplied by.
  __device__ float kept(int i, int j) const {
    return shared_->kept[i][j / kGroup] >> j % kGroup & 1 ? scale_ : 0;
  }

 private:
  int head_;
  float scale_;
  const Shared* shared_ = nullptr;
};

/// Blocks that a multiprocessor is to hold at once: what limits a thread's registers.
template <int D, class Scores>
inline constexpr int kBlocks = D >= 128 || Scores::kIsGeneral ? 2 : 3;

/// The dot products of far pairs in the place of the others', in a warp's rows from `row` on and
/// pieces from `column` on, both this lane's first. kKeysAreRows: of keys by queries.
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
