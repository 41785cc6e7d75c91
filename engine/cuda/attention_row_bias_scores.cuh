#pragma once
// Scores with a row bias alone, as FIRE has it. Plain scores but for a step of its own, which takes
// the dot products of a warp's part of a tile to scores. What a pair costs is two multiply-adds:
// the segments of the piecewise linear function that a part, or an 8-column piece of it, can meet
// are found once for all of its pairs, from its least and its greatest distance and row factor.
// Mostly that is one; else a pair is compared with the knots between them.

#include "engine/cuda/attention_plain_scores.cuh"

namespace farfield::attention_cuda {

/// The least and the greatest row factor of a part.
struct RowFactors {
  float least, greatest;

  /// Over all lanes. Positive floats are in the order of their bits; NaN is above them and counts
  /// as infinity, so that the others keep their segments.
  template <int n>
  __device__ static RowFactors of_warp(const float (&factors)[n]) {
    float least = factors[0], greatest = factors[0];
#pragma unroll
    for (int i = 1; i < n; ++i) {
      least = fminf(least, factors[i]);
      greatest = fmaxf(greatest, factors[i]);
    }
    const auto lowest = __reduce_min_sync(kAllLanes, std::bit_cast<uint32_t>(least));
    const auto highest = __reduce_max_sync(kAllLanes, std::bit_cast<uint32_t>(greatest));
    return {std::bit_cast<float>(lowest), fminf(std::bit_cast<float>(highest), kInfinity)};
  }
};

/// A query's factors of a dot product and of the row bias's argument.
struct QueryFactors {
  float dot, row_bias;
};

/// Segments [lowest, highest].
struct SegmentRange {
  int lowest, highest;

  __device__ bool is_one() const { return lowest == highest; }
};

template <class T>
class RowBiasScores : public PlainTile<T> {
 public:
  static constexpr bool kAddsRowBias = true, kCopiesInBulk = false;
  /// For fewer than n distances, as in PlainScores. TMA copies would give zeros for distances that
  /// do not exist, but features must not fall.
  template <int n>
  struct alignas(16) Loaded {
    float feature[n];
  };
  using Shared = Loaded<PlainTile<T>::kDistances>;

  __device__ RowBiasScores(const Problem<T>& p, const Head& head)
      : PlainTile<T>(p), first_line_(head.h * p.row_bias.n_segment()) {}

  /// As PlainScores has it. Distances that do not exist have the feature of the nearest one, so
  /// that features do not fall there either.
  template <int kThreads = kBlock, int n>
  __device__ void load(Loaded<n>& shared, int query, int n_query, int key, int n_key) const {
    this->template for_distances<kThreads, n>(query, n_query, key, n_key, [&](int x, int d) {
      const int last = p_.n_key - 1;
      const int nearest = d < 0 ? 0 : d < last ? d : last;
      copy_async<4>(&shared.feature[x], p_.row_bias.feature + nearest, true);
    });
  }
  template <int n>
  __device__ void start_tile(const Loaded<n>& shared, int query, int n_query, int key, int n_key) {
    feature_ = &shared.feature[n_key - 1];
    PlainTile<T>::start_tile(query, n_query, key, n_key);
  }
  /// From now on, of a warp's part of the tile: n_row rows from `row` on, of queries by keys or of
  /// kKeysAreRows, in kPieces pieces of 8 columns. By all lanes of a warp.
  template <bool kKeysAreRows, int kPieces>
  __device__ void start_segments(int row, int n_row, const RowFactors& factors) {
    static_assert(2 * kPieces <= kWarp);
    // Lanes 2 n and 2 n + 1 look for the lowest and the highest segment of piece n.
    const int lane = static_cast<int>(threadIdx.x) % kWarp, column = lane / 2 % kPieces * 8;
    const bool is_highest = lane % 2 == 1;
    const int x = kKeysAreRows ? column - row + (is_highest ? 7 : 1 - n_row)
                               : row - column + (is_highest ? n_row - 1 : -7);
    const float feature = feature_[x];  // below 0 it falls with the factor
    const float a = feature * factors.least, b = feature * factors.greatest;
    const float argument = is_highest ? fmaxf(a, b) : fminf(a, b);
    segment_ = segment_ < 0 ? p_.row_bias.segment_of(argument)
                            : p_.row_bias.segment_from(segment_, argument);
    // Where an argument is not a number the lowest one may be found above the highest.
    const int other = __shfl_xor_sync(kAllLanes, segment_, 1);
    if (is_highest && other > segment_) segment_ = other;
    of_one_ = __ballot_sync(kAllLanes, is_highest && segment_ == other);
    constexpr int kLast = kPieces - 1;
    const SegmentRange part =
        range_of_lanes(kKeysAreRows ? 0 : 2 * kLast, kKeysAreRows ? 2 * kLast + 1 : 1);
    if (part.is_one()) {
      segment_ = part.lowest;
      of_one_ |= kPartBit;
    }
    line_ = line_of(segment_);
  }
  /// Whether the part's pairs are in one segment, and which, and whether those in a piece of 8
  /// columns are: without a word from other lanes.
  __device__ bool is_of_one() const { return (of_one_ & kPartBit) != 0; }
  __device__ int segment() const { return segment_; }
  __device__ bool is_of_one(int n) const { return (of_one_ >> (2 * n + 1) & 1) != 0; }
  /// The segments of a piece, by all lanes of a warp.
  __device__ SegmentRange of_piece(int n) const { return range_of_lanes(2 * n, 2 * n + 1); }

  /// The feature of a pair: element x (mma.cuh) of piece n and group g of the part, this lane's
  /// first row and column `row` and `column`.
  template <bool kKeysAreRows>
  __device__ float feature(int row, int column, int g, int n, int x) const {
    const int i = row - column + 16 * g + x / 2 * 8 - 8 * n - x % 2;
    return feature_[kKeysAreRows ? -i : i];
  }
  /// s: the part's dot products to scores, with factors(g, n, x) of a pair's query; keep(g, n, x,
  /// the derivative of the score by the feature). Pairs that are not seen count as well.
  template <bool kKeysAreRows, int kGroups, int kPieces, class Factors, class Keep>
  __device__ void add_row_bias(float (&s)[kGroups][kPieces][4], int row, int column,
                               const Factors& factors, const Keep& keep) const {
    const auto add = [&](int g, int n, int x, float feature, const Line& line) {
      const QueryFactors of_query = factors(g, n, x);
      const float by_feature = line.slope * of_query.row_bias;
      keep(g, n, x, by_feature);
      s[g][n][x] = std::fma(s[g][n][x], of_query.dot, std::fma(by_feature, feature, line.offset));
    };
    if (is_of_one()) {
#pragma unroll
      for (int n = 0; n < kPieces; ++n)
        for_pairs<kGroups>([&](int g, int x) {
          add(g, n, x, feature<kKeysAreRows>(row, column, g, n, x), line_);
        });
      return;
    }
#pragma unroll
    for (int n = 0; n < kPieces; ++n) {
      const Line lowest = of_lane(line_, 2 * n);
      if (is_of_one(n)) {
        for_pairs<kGroups>([&](int g, int x) {
          add(g, n, x, feature<kKeysAreRows>(row, column, g, n, x), lowest);
        });
        continue;
      }
      float features[kGroups][4];
      Line lines[kGroups][4];
      const auto is_below = [&](float feature, int g, int x, float knot) {
        return feature * factors(g, n, x).row_bias < knot;
      };
      const SegmentRange range = of_piece(n);
      const float knot = p_.row_bias.knots[range.lowest];
      const Line next = line_of(range.lowest + 1);
      for_pairs<kGroups>([&](int g, int x) {
        features[g][x] = feature<kKeysAreRows>(row, column, g, n, x);
        lines[g][x] = is_below(features[g][x], g, x, knot) ? lowest : next;
      });
#pragma unroll 1
      for (int k = range.lowest + 1; k < range.highest; k = not_unrolled(k + 1)) {
        const float further = p_.row_bias.knots[k];
        const Line line = line_of(k + 1);
        for_pairs<kGroups>([&](int g, int x) {
          if (!is_below(features[g][x], g, x, further)) lines[g][x] = line;
        });
      }
      for_pairs<kGroups>([&](int g, int x) { add(g, n, x, features[g][x], lines[g][x]); });
    }
  }

  /// f(scores of pairs) for the tile, where the row bias has been added.
  template <Tables, class F>
  __device__ void for_tile(const F& f) const {
    f(AddedScores());
  }

 private:
  struct AddedScores {
    static constexpr bool kIsLean = false, kIsProduct = false;
    __device__ Score operator()(float score, float, int, int) const { return {score, 0, 1}; }
  };
  struct Line {
    float slope, offset;
  };
  static constexpr uint32_t kPartBit = 1;
  // k; the compiler unrolls the loop all the same where it sees what the next k is.
  __device__ static int not_unrolled(int k) { return computed_anew(k); }
  // f(g, x) for the pairs of a lane in a piece.
  template <int kGroups, class F>
  __device__ static void for_pairs(const F& f) {
#pragma unroll
    for (int g = 0; g < kGroups; ++g)
#pragma unroll
      for (int x = 0; x < 4; ++x) f(g, x);
  }
  __device__ Line line_of(int segment) const {
    const int at = first_line_ + segment;
    return {p_.row_bias.slope[at], p_.row_bias.offset[at]};
  }
  __device__ static Line of_lane(const Line& line, int lane) {
    return {__shfl_sync(kAllLanes, line.slope, lane), __shfl_sync(kAllLanes, line.offset, lane)};
  }
  __device__ SegmentRange range_of_lanes(int lowest, int highest) const {
    const int from = __shfl_sync(kAllLanes, segment_, lowest);
    const int to = __shfl_sync(kAllLanes, segment_, highest);
    return {from, to < from ? from : to};
  }

  using PlainTile<T>::p_;
  const float* feature_ = nullptr;  // of query 0 and key 0
  int first_line_;
  int segment_ = -1;     // that this lane found last; -1: none yet
  uint32_t of_one_ = 0;  // bit 2 n + 1: piece n; kPartBit: the part
  Line line_ = {};       // of segment_
};

}  // namespace farfield::attention_cuda
