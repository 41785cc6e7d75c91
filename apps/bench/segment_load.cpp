#include "apps/bench/segment_load.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "apps/bench/tiles.h"

namespace farfield::bench {
namespace {

struct Range {
  int64_t lowest, highest;
};

// The range of segments for ranges of queries and keys, from the extremes of factor and distance.
class Segments {
 public:
  explicit Segments(const RowBias& bias)
      : feature_(bias.feature.to_vector()),
        factor_(bias.row_factor.to_vector()),
        knots_(bias.knots.to_vector()) {}

  /// The range for queries [query, query + n_query) and keys [key, key + n_key).
  Range range(int64_t query, int64_t n_query, int64_t key, int64_t n_key) const {
    const auto n = static_cast<int64_t>(factor_.size());
    const auto begin = factor_.begin() + std::min(query, n - 1);
    const auto [least, greatest] =
        std::minmax_element(begin, factor_.begin() + std::min(query + n_query, n));
    const double low = feature_at(query - key - n_key + 1);
    const double high = feature_at(query - key + n_query - 1);
    return {segment_of(std::min(low * *least, low * *greatest)),
            segment_of(std::max(high * *least, high * *greatest))};
  }

 private:
  double feature_at(int64_t distance) const {
    const auto last = static_cast<int64_t>(feature_.size()) - 1;
    return feature_[static_cast<size_t>(std::clamp<int64_t>(distance, 0, last))];
  }
  int64_t segment_of(double x) const {
    return std::upper_bound(knots_.begin(), knots_.end(), x) - knots_.begin();
  }

  std::vector<double> feature_, factor_, knots_;
};

// Adds a part with its pairs, its range of segments and the ranges of its n_piece pieces. Calls
// f(segments) for each piece, or once if the part lies in one segment.
template <class OfPiece, class F>
void add_part(PartLoad& load, double pairs, const Range& part, int64_t n_piece,
              const OfPiece& of_piece, const F& f) {
  if (part.lowest == part.highest) {
    load.one += pairs;
    f(part);
    return;
  }
  load.several += pairs;
  const double pairs_of_piece = pairs / static_cast<double>(n_piece);
  for (int64_t i = 0; i < n_piece; ++i) {
    const Range piece = of_piece(i);
    if (piece.lowest < piece.highest) {
      load.first += pairs_of_piece;
      load.further += pairs_of_piece * static_cast<double>(piece.highest - piece.lowest - 1);
    }
    f(piece);
  }
}

// The two segments whose sums a warp holds.
class HeldSegments {
 public:
  /// Whether the sums of another segment have to make room for the sums of segment k.
  bool take(int64_t k) {
    if (newer_ == k) return false;
    std::swap(newer_, older_);
    if (newer_ == k) return false;
    return std::exchange(newer_, k) >= 0;
  }
  int count() const { return (newer_ >= 0) + (older_ >= 0); }

 private:
  int64_t newer_ = -1, older_ = -1;
};

}  // namespace

void SegmentLoad::add(const SegmentLoad& other, double times) {
  for (PartLoad SegmentLoad::*part :
       {&SegmentLoad::forward, &SegmentLoad::keys, &SegmentLoad::queries})
    for (double PartLoad::*pairs :
         {&PartLoad::one, &PartLoad::several, &PartLoad::first, &PartLoad::further})
      this->*part.*pairs += times * (other.*part.*pairs);
  flushes += times * other.flushes;
}

SegmentLoad segment_load(const RowBias& bias, int64_t n, int64_t window, int64_t sinks) {
  constexpr int64_t kPiece = 8;
  const Segments segments(bias);
  SegmentLoad load;
  const auto add_rows_of_queries = [&](PartLoad& to, int64_t query, int64_t n_query, int64_t key,
                                       int64_t n_key, const auto& f) {
    add_part(
        to, static_cast<double>(n_query * n_key), segments.range(query, n_query, key, n_key),
        n_key / kPiece,
        [&](int64_t i) { return segments.range(query, n_query, key + i * kPiece, kPiece); }, f);
  };
  const auto add_rows_of_keys = [&](PartLoad& to, int64_t key, int64_t n_key, int64_t query,
                                    int64_t n_query) {
    add_part(
        to, static_cast<double>(n_query * n_key), segments.range(query, n_query, key, n_key),
        n_query / kPiece,
        [&](int64_t i) { return segments.range(query + i * kPiece, kPiece, key, n_key); },
        [](const Range&) {});
  };

  constexpr int64_t kRows = 32, kQueriesOfKeys = 16, kKeysOfQueries = 32;
  std::array<HeldSegments, kTileRows / kRows> held;
  const auto put_away = [&] {
    for (HeldSegments& of_warp : held) load.flushes += std::exchange(of_warp, {}).count();
  };
  int64_t last_query = 0;
  for_each_tile(n, window, sinks, [&](int64_t query, int64_t key) {
    if (query != last_query) put_away();
    last_query = query;
    for (int64_t row = 0; row < kTileRows; row += kRows) {
      add_rows_of_queries(load.forward, query + row, kRows, key, kTileRows, [](const Range&) {});
      for (int64_t column = 0; column < kTileRows; column += kQueriesOfKeys)
        add_rows_of_keys(load.keys, key + row, kRows, query + column, kQueriesOfKeys);
      HeldSegments& of_warp = held[static_cast<size_t>(row / kRows)];
      for (int64_t column = 0; column < kTileRows; column += kKeysOfQueries)
        add_rows_of_queries(load.queries, query + row, kRows, key + column, kKeysOfQueries,
                            [&](const Range& range) {
                              for (int64_t k = range.highest; k >= range.lowest; --k)
                                load.flushes += of_warp.take(k);
                            });
    }
  });
  put_away();
  return load;
}

}  // namespace farfield::bench
