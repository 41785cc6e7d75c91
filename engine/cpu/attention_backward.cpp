#include <algorithm>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/cpu/attention_exp.h"
#include "engine/cpu/attention_problem.h"
#include "engine/cpu/attention_terms.h"

namespace farfield {
namespace attention_cpu {
namespace {

// Rows of a tile have a margin of zeros on both sides, so that a diagonal can be read as if the
// tile went on: one before the first row, and one after each.
constexpr int64_t kMargin = 16;
constexpr int64_t kScoreStride = kTile + kMargin;
constexpr int64_t kTileSize = kMargin + kTile * kScoreStride;

// Positions are cut into chunks. One unit of parallel work is a chunk of keys and a chunk of
// queries of one head. In round r the chunk of keys c meets the chunk of queries c + r: within a
// round no two units share a chunk, so each adds to its part of dq, dk and dv alone, and the order
// of the additions is the order of the rounds.
int64_t chunk_size(int64_t n_key) {
  return kTile * std::clamp<int64_t>((n_key + 4 * kTile - 1) / (4 * kTile), 2, 4);
}

// Where gradients are summed: the outputs themselves, or, when these are narrower or not whole
// vectors, buffers for as many heads as a fixed amount of memory holds.
template <class A>
struct Sums {
  A *dq, *dk, *dv;
  int64_t width;  // elements from one row to the next
};

// One table's gradient. Each unit sums its diagonals into its own part; after a round the parts are
// added up in the order of the chunks, in float64.
template <class A>
struct TableSums {
  A* part = nullptr;        // [heads, chunks, 2 * chunk], or null when not wanted
  double* total = nullptr;  // [heads, n_key]
};

template <class T>
struct Backward {
  using A = Accumulate<T>;
  const Problem<T>& p;
  const T* dout;
  const T* out;
  const A* lse;
  int64_t chunk, chunks;
  Sums<A> sums;
  int64_t first_head;  // the head that the sums begin with
  TableSums<A> bias, weight;
};

// Of each row: log-sum-exp, and the sum over channels of dout * out.
template <class A>
struct RowValues {
  const A *lse, *dot;
};

// The tiles of one unit.
template <class A>
struct Tiles {
  A* prob;     // probabilities
  A* grad;     // dP, then the gradient of the unscaled dot products divided by the common scale
  A* dbias;    // dS; the same tile as grad unless row scales or weights set them apart
  A* dweight;  // dS times the scaled dot product, when wanted

  Tiles from(int64_t at) const {
    return {prob + at, grad + at, dbias + at, dweight ? dweight + at : nullptr};
  }
};

// One row: from dot products c and dP to P and the gradients.
template <class A, bool kBias, bool kWeight, bool kSplit>
void gradient_row(const Tiles<A>& tiles, int64_t at, Range keys, A factor, A row_factor, A lse,
                  A row_dot, const A* bias, const A* weight) {
  const Vec<A> f = splat(factor), rf = splat(row_factor), l = splat(lse), dot = splat(row_dot);
  for (int64_t j = keys.begin; j < keys.end; j += kLanes<A>) {
    A* const prob = tiles.prob + at + j;
    A* const grad = tiles.grad + at + j;
    const Vec<A> content = load(prob) * f;
    Vec<A> s = content;
    Vec<A> w{};
    if constexpr (kWeight) {
      w = load(weight + j);
      s = s * w;
    }
    if constexpr (kBias) s = s + load(bias + j);
    const Vec<A> probability = exp_lanes<A>(s - l);
    Vec<A> ds = probability * (load(grad) - dot);
    store<A>(prob, probability);
    if constexpr (kSplit) {
      if (tiles.dbias != tiles.grad) store<A>(tiles.dbias + at + j, ds);
      if (tiles.dweight) store<A>(tiles.dweight + at + j, ds * content);
      ds = ds * rf;
      if constexpr (kWeight) ds = ds * w;
    }
    store<A>(grad, ds);
  }
}

// row[0 .. size) = 0 outside the keys; all three are whole vectors.
template <class A>
void clear_outside(A* row, Range keys, int64_t size) {
  for (int64_t j = 0; j < keys.begin; j += kLanes<A>) store<A>(row + j, Vec<A>{});
  for (int64_t j = keys.end; j < size; j += kLanes<A>) store<A>(row + j, Vec<A>{});
}

template <class T, class A = Accumulate<T>>
void gradient_strip(const Backward<T>& b, const TileView& view, const RowValues<A>& rows,
                    int64_t first_query, TileTerms<A>& terms, const Tiles<A>& tiles) {
  constexpr int64_t kCols = kBlockCols<A>;
  const Problem<T>& p = b.p;
  terms.start_tile(view);
  const int64_t padded = round_up(view.cols, kCols);
  const bool split = p.row_scale || p.weight;
  const int64_t cleared = b.bias.part || b.weight.part ? kTile + kMargin : padded;
  for (int64_t block = 0; block < view.rows; block += kBlockRows) {
    const int64_t n = std::min<int64_t>(kBlockRows, view.rows - block);
    const Range seen = view.keys_of(block, n);
    const Range keys =
        seen.empty() ? Range{0, 0} : Range{seen.begin / kCols * kCols, round_up(seen.end, kCols)};
    for (int64_t i = block; i < block + n; ++i) {
      const int64_t at = i * kScoreStride;
      const A factor = p.factor(first_query + i);
      const A row_factor = p.row_scale ? p.row_scale[first_query + i] : A{1};
      const A* const bias = terms.has_bias() ? terms.bias_row(i) : nullptr;
      const A* const weight = terms.has_weight() ? terms.weight_row(i) : nullptr;
      const auto run = [&](auto has_bias, auto has_weight, auto is_split) {
        gradient_row<A, has_bias(), has_weight(), is_split()>(
            tiles, at, keys, factor, row_factor, rows.lse[i], rows.dot[i], bias, weight);
      };
      constexpr std::true_type yes;
      constexpr std::false_type no;
      if (weight)
        bias ? run(yes, yes, yes) : run(no, yes, yes);
      else if (split)
        bias ? run(yes, no, yes) : run(no, no, yes);
      else
        bias ? run(yes, no, no) : run(no, no, no);
      clear_outside(tiles.prob + at, keys, padded);
      clear_outside(tiles.grad + at, keys, cleared);
      if (tiles.dbias != tiles.grad) clear_outside(tiles.dbias + at, keys, cleared);
      if (tiles.dweight) clear_outside(tiles.dweight + at, keys, cleared);
    }
  }
}

// part[chunk + d - base] += sums over the diagonals of a tile, d being their distance.
template <class A>
void add_diagonals(const TileView& view, const A* tile, int64_t base, A* part) {
  constexpr int64_t kWidth = kLanes<A>;
  const int64_t count = view.rows + view.cols - 1, top = view.offset + view.rows - 1;
  for (int64_t x = 0; x < count; x += kWidth) {
    // Diagonal x holds key x - (rows - 1) + i of query i: distance top - x.
    const int64_t shift = x - (view.rows - 1);
    const int64_t begin = std::max<int64_t>(0, -shift - (kWidth - 1));
    const int64_t end = std::min(view.rows, view.cols - shift);
    Vec<A> sums[4] = {};
    const A* from = tile + begin * (kScoreStride + 1) + shift;
    int64_t i = begin;
    for (; i + 4 <= end; i += 4, from += 4 * (kScoreStride + 1))
      for (int64_t u = 0; u < 4; ++u) sums[u] += load(from + u * (kScoreStride + 1));
    for (; i < end; ++i, from += kScoreStride + 1) sums[0] += load(from);
    A lane[kWidth];
    store<A>(lane, (sums[0] + sums[1]) + (sums[2] + sums[3]));
    const int64_t last = std::min({kWidth, count - x, top - x + 1});  // distances stay >= 0
    for (int64_t u = 0; u < last; ++u) part[top - x - u - base] += lane[u];
  }
}

// sum over x of a[x] * b[x], in a fixed order.
template <class T, class A = Accumulate<T>>
A dot(const T* a, const T* b, int64_t n) {
  constexpr int64_t kWidth = kLanes<A>;
  Vec<A> sum{};
  int64_t x = 0;
  if constexpr (std::is_same_v<T, A>)
    for (; x + kWidth <= n; x += kWidth) sum += load(a + x) * load(b + x);
  A total = sum_of<A>(sum);
  for (; x < n; ++x) total += static_cast<A>(a[x]) * static_cast<A>(b[x]);
  return total;
}

// The queries of a chunk.
template <class T>
Range queries_of_chunk(const Backward<T>& b, int64_t chunk) {
  const int64_t first = chunk * b.chunk - b.p.first_position();
  return {std::clamp(first, int64_t{0}, b.p.n_query),
          std::clamp(first + b.chunk, int64_t{0}, b.p.n_query)};
}

// Do keys of chunk c meet queries of chunk c + round that see them?
template <class T>
bool has_work(const Backward<T>& b, int64_t c, int64_t round) {
  const Range queries = queries_of_chunk(b, c + round);
  const int64_t first_key = c * b.chunk;
  return !b.p.view(queries.begin, queries.size(), first_key,
                   std::min(b.chunk, b.p.n_key - first_key))
              .sees_nothing();
}

// Distances of a round are at least this, and fewer than 2 * chunk of them.
int64_t smallest_distance(int64_t chunk, int64_t round) {
  return std::max<int64_t>(0, (round - 1) * chunk);
}

// Keys of chunk c against queries of chunk c + round, for one head. Round 0 clears the sums of
// both.
template <class T>
void backward_unit(const Backward<T>& b, int64_t head, int64_t c, int64_t round) {
  using A = Accumulate<T>;
  const Problem<T>& p = b.p;
  const int64_t width = p.width, local = head - b.first_head;
  const int64_t first_key = c * b.chunk, last_key = std::min(p.n_key, first_key + b.chunk);
  const Range queries = queries_of_chunk(b, c + round);
  const int64_t begin = queries.begin, rows = queries.size();
  const int64_t base = smallest_distance(b.chunk, round);
  A* const dbias = b.bias.part ? b.bias.part + (head * b.chunks + c) * 2 * b.chunk : nullptr;
  A* const dweight = b.weight.part ? b.weight.part + (head * b.chunks + c) * 2 * b.chunk : nullptr;
  if (dbias) std::fill_n(dbias, 2 * b.chunk, A{0});
  if (dweight) std::fill_n(dweight, 2 * b.chunk, A{0});
  const int64_t stride = b.sums.width;
  A* const dq = b.sums.dq + (local * p.n_query + begin) * stride;
  A* const dk = b.sums.dk + (local * p.n_key + first_key) * stride;
  A* const dv = b.sums.dv + (local * p.n_key + first_key) * stride;
  if (round == 0) {
    std::fill_n(dq, rows * stride, A{0});
    std::fill_n(dk, (last_key - first_key) * stride, A{0});
    std::fill_n(dv, (last_key - first_key) * stride, A{0});
    if (!has_work(b, c, round)) return;
  }

  const int64_t sizes =
      rows * (2 * width + 1) + 3 * kTile * width + 4 * kTileSize + TileTerms<A>::kBufferSize;
  Scratch scratch(sizes * static_cast<int64_t>(sizeof(A)));
  const Rows<A> q = rows_of(p.q_row(head, begin), p.head_dim, rows, p.head_dim, width,
                            scratch.take<A>(rows * width));
  A* const dout = scratch.take<A>(rows * width);
  pack_rows(b.dout + p.token_row(head, begin), p.token_stride(), rows, p.head_dim, width, dout);
  A* const dots = scratch.take<A>(rows);
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t at = p.token_row(head, begin + i);
    dots[i] = dot(b.dout + at, b.out + at, p.head_dim);
  }
  const A* const lse = b.lse + head * p.n_query + begin;
  A* const key_cols = scratch.take<A>(kTile * width);
  A* const value_cols = scratch.take<A>(kTile * width);
  A* const key_rows = scratch.take<A>(kTile * width);
  A* const tile_memory = scratch.take<A>(4 * kTileSize);
  for (int64_t i = 0; i < 4; ++i) std::fill_n(tile_memory + i * kTileSize, kMargin, A{0});
  const auto tile = [&](int64_t i) { return tile_memory + i * kTileSize + kMargin; };
  const bool split = p.row_scale || p.weight;
  const Tiles<A> tiles{tile(0), tile(1), dbias && split ? tile(2) : tile(1),
                       dweight ? tile(3) : nullptr};
  TileTerms<A> terms(p.bias_of(head), p.weight_of(head), scratch.take<A>(terms.kBufferSize));

  for (int64_t j = first_key; j < last_key; j += kTile) {
    const int64_t cols = std::min(kTile, last_key - j);
    if (p.view(begin, rows, j, cols).sees_nothing()) continue;
    pack_transposed(p.k_row(head, j), p.head_dim, cols, p.head_dim, key_cols);
    pack_transposed(p.v_row(head, j), p.head_dim, cols, p.head_dim, value_cols);
    const Rows<A> k = rows_of(p.k_row(head, j), p.head_dim, cols, p.head_dim, width, key_rows);
    for (int64_t i = 0; i < rows; i += kTile) {
      const TileView view = p.view(begin + i, std::min(kTile, rows - i), j, cols);
      if (view.sees_nothing()) continue;
      const A* const dout_i = dout + i * width;
      for (int64_t r = 0; r < view.rows; r += kStrip) {
        const TileView strip = view.queries(r, kStrip);
        const int64_t at = r * kScoreStride;
        tile_scores(strip, q.row(i + r), q.stride, key_cols, p.head_dim, tiles.prob + at,
                    kScoreStride);
        tile_scores(strip, dout_i + r * width, width, value_cols, p.head_dim, tiles.grad + at,
                    kScoreStride);
        gradient_strip<T>(b, strip, {lse + i + r, dots + i + r}, begin + i + r, terms,
                          tiles.from(at));
      }
      if (dbias) add_diagonals(view, tiles.dbias, base, dbias);
      if (dweight) add_diagonals(view, tiles.dweight, base, dweight);
      add_over_queries(view, tiles.prob, kScoreStride, dout_i, width, width, A{1},
                       dv + (j - first_key) * stride, stride);
      add_over_queries(view, tiles.grad, kScoreStride, q.row(i), q.stride, width, p.scale,
                       dk + (j - first_key) * stride, stride);
      add_over_keys(view, tiles.grad, kScoreStride, k.data, k.stride, width, p.scale,
                    dq + i * stride, stride);
    }
  }
}

// Adds up the parts of a round: total[head, distance] += part, chunk after chunk.
template <class T, class A = Accumulate<T>>
void add_parts(const Backward<T>& b, const TableSums<A>& table, int64_t head, int64_t round) {
  if (table.part == nullptr) return;
  const int64_t base = smallest_distance(b.chunk, round);
  const int64_t count = std::min(2 * b.chunk, b.p.n_key - base);
  double* const total = table.total + head * b.p.n_key + base;
  for (int64_t c = 0; c + round < b.chunks; ++c) {
    if (!has_work(b, c, round)) continue;
    const A* const part = table.part + (head * b.chunks + c) * 2 * b.chunk;
    for (int64_t x = 0; x < count; ++x) total[x] += static_cast<double>(part[x]);
  }
}

// All rounds of heads [b.first_head, b.first_head + heads).
template <class T>
void backward_heads(const Backward<T>& b, int64_t heads) {
  for (int64_t round = 0; round < b.chunks; ++round) {
    std::vector<int64_t> busy;
    for (int64_t c = 0; c + round < b.chunks; ++c)
      if (round == 0 || has_work(b, c, round)) busy.push_back(c);
    const auto count = static_cast<int64_t>(busy.size());
    parallel_for(heads * count, [&](int64_t unit) {
      backward_unit(b, b.first_head + unit / count, busy[static_cast<size_t>(unit % count)], round);
    });
    if (b.bias.part || b.weight.part)
      parallel_for(heads, [&](int64_t h) {
        add_parts(b, b.bias, b.first_head + h, round);
        add_parts(b, b.weight, b.first_head + h, round);
      });
  }
}

// to[row, 0 .. head_dim) = from[row, 0 .. width), rounded to T.
template <class T, class A>
void round_rows(const A* from, int64_t width, int64_t rows, int64_t head_dim, T* to) {
  parallel_chunks(rows, 256, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      for (int64_t x = 0; x < head_dim; ++x)
        to[row * head_dim + x] = static_cast<T>(from[row * width + x]);
  });
}

template <class A>
void set_zero(A* x, int64_t n) {
  parallel_chunks(n, int64_t{1} << 16,
                  [&](int64_t begin, int64_t end) { std::fill(x + begin, x + end, A{0}); });
}

// table[h, d] = sum over the batch, in order, of total[batch, h, d].
template <class A>
void sum_batch(const double* total, int64_t n_batch, int64_t size, A* table) {
  parallel_chunks(size, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      double sum = 0;
      for (int64_t batch = 0; batch < n_batch; ++batch) sum += total[batch * size + i];
      table[i] = static_cast<A>(sum);
    }
  });
}

// Memory of the sums of a wave of heads, when the outputs cannot hold them.
constexpr int64_t kWaveBytes = int64_t{24} << 20;

template <class T>
void backward(const Problem<T>& p, const T* dout, const T* out, const Accumulate<T>* lse,
              AttentionGrads& grads) {
  using A = Accumulate<T>;
  const int64_t heads = p.heads(), chunk = chunk_size(p.n_key);
  const int64_t chunks = (p.n_key + chunk - 1) / chunk;
  const bool in_place = usable_in_place<T>(p.head_dim);
  const int64_t q_size = p.n_query * p.width, k_size = p.n_key * p.width;
  const int64_t head_bytes = (q_size + 2 * k_size) * static_cast<int64_t>(sizeof(A));
  const int64_t wave = in_place ? heads : std::clamp(kWaveBytes / head_bytes, int64_t{1}, heads);

  Storage memory(in_place ? 0 : wave * head_bytes, Device{});
  const auto table_bytes = [&](const Tensor& wanted, int64_t n, size_t element) {
    return wanted.defined() ? n * static_cast<int64_t>(element) : 0;
  };
  const int64_t parts = heads * chunks * 2 * chunk, totals = heads * p.n_key;
  Storage bias_part(table_bytes(grads.dbias, parts, sizeof(A)), Device{});
  Storage weight_part(table_bytes(grads.dweight, parts, sizeof(A)), Device{});
  Storage bias_total(table_bytes(grads.dbias, totals, sizeof(double)), Device{});
  Storage weight_total(table_bytes(grads.dweight, totals, sizeof(double)), Device{});
  const auto table_sums = [&](const Tensor& wanted, const Storage& part, const Storage& total) {
    if (!wanted.defined()) return TableSums<A>{};
    set_zero(static_cast<double*>(total.data()), totals);
    return TableSums<A>{static_cast<A*>(part.data()), static_cast<double*>(total.data())};
  };

  Backward<T> b{p,
                dout,
                out,
                lse,
                chunk,
                chunks,
                {},
                0,
                table_sums(grads.dbias, bias_part, bias_total),
                table_sums(grads.dweight, weight_part, weight_total)};
  for (b.first_head = 0; b.first_head < heads; b.first_head += wave) {
    const int64_t count = std::min(wave, heads - b.first_head);
    T* const dq = grads.dq.data<T>() + b.first_head * p.n_query * p.head_dim;
    T* const dk = grads.dk.data<T>() + b.first_head * p.n_key * p.head_dim;
    T* const dv = grads.dv.data<T>() + b.first_head * p.n_key * p.head_dim;
    auto* const sums = static_cast<A*>(memory.data());
    b.sums = {sums, sums + wave * q_size, sums + wave * (q_size + k_size), p.width};
    if constexpr (std::is_same_v<T, A>)
      if (in_place) b.sums = {dq, dk, dv, p.width};
    backward_heads(b, count);
    if (!in_place) {
      round_rows(b.sums.dq, p.width, count * p.n_query, p.head_dim, dq);
      round_rows(b.sums.dk, p.width, count * p.n_key, p.head_dim, dk);
      round_rows(b.sums.dv, p.width, count * p.n_key, p.head_dim, dv);
    }
  }
  const int64_t table_size = p.n_head * p.n_key;
  if (grads.dbias.defined()) sum_batch(b.bias.total, p.n_batch, table_size, grads.dbias.data<A>());
  if (grads.dweight.defined())
    sum_batch(b.weight.total, p.n_batch, table_size, grads.dweight.data<A>());
}

}  // namespace
}  // namespace attention_cpu

void attention_backward(Cpu, const Tensor& q, const Tensor& k, const Tensor& v,
                        const AttentionRule& rule, const Tensor& out, const Tensor& lse,
                        const Tensor& dout, AttentionGrads& grads) {
  dispatch_float(q.dtype(), [&](auto type) {
    using T = decltype(type);
    const attention_cpu::Problem<T> p(q, k, v, rule);
    attention_cpu::backward<T>(p, dout.data<T>(), out.data<T>(), lse.data<Accumulate<T>>(), grads);
  });
}

}  // namespace farfield
