#include <vector>

#include "engine/base/parallel.h"
#include "engine/cpu/attention_backward_unit.h"
#include "engine/cpu/convert.h"
#include "engine/cpu/flush_denormals.h"
#include "engine/kernels/split_heads.h"

namespace farfield {
namespace attention_cpu {
namespace {

// All rounds of heads [b.first_head, b.first_head + heads).
template <class T>
void backward_heads(const Backward<T>& b, int64_t heads, EntryRanges& ranges) {
  for (int64_t round = 0; round < b.chunks.count; ++round) {
    ranges.start_round(b.p, b.chunks, round);
    std::vector<int64_t> busy;  // chunks of keys with work, in order
    for (int64_t c = 0; c + round < b.chunks.count; ++c)
      if (b.chunks.has_work(b.p, c, round)) busy.push_back(c);
    // Round 0 also clears the sums, so it visits every chunk.
    const int64_t count = round == 0 ? b.chunks.count : static_cast<int64_t>(busy.size());
    with_score_terms<T>([&](auto terms) {
      parallel_for(heads * count, [&](int64_t unit) {
        const FlushDenormals flush;
        const int64_t i = unit % count;
        backward_unit<T, decltype(terms)>(b, b.first_head + unit / count,
                                          round == 0 ? i : busy[static_cast<size_t>(i)], round);
      });
    });
    if (b.bias.wanted() || b.weight.wanted() || b.row_bias.wanted())
      parallel_for(heads, [&](int64_t h) {
        const int64_t head = b.first_head + h, batch = head / b.p.n_head;
        for (const int64_t c : busy) {
          b.bias.add_part(head, batch, c, round);
          b.weight.add_part(head, batch, c, round);
          b.row_bias.add_part(head, c, round);
        }
      });
  }
}

// The sums [n_head, n_row, width] of heads from first_head on, rounded to T, to their rows in `to`.
template <class T, class A>
void round_rows(const A* sums, int64_t width, int64_t first_head, int64_t n_head, int64_t n_row,
                int64_t head_dim, const HeadRows& rows, T* to) {
  parallel_chunks(n_head * n_row, 256, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t head = begin / n_row, first = begin % n_row;
      const int64_t n = std::min(end - begin, n_row - first);
      T* row = to + rows.at(first_head + head, first);
      const A* from = sums + begin * width;
      for (int64_t i = 0; i < n; ++i, from += width, row += rows.row_step)
        convert(from, head_dim, row);
      begin += n;
    }
  });
}

// Memory of the sums of a wave of heads, when the outputs cannot hold them.
constexpr int64_t kWaveBytes = int64_t{24} << 20;

template <class T>
void backward(const Problem<T>& p, const T* dout, const T* out,
              const RowValues<Accumulate<T>>& rows, AttentionGrads& grads) {
  using A = Accumulate<T>;
  const int64_t heads = p.heads();
  const Chunks chunks(p.n_key);
  EntryRanges ranges(p, chunks);
  const TableSums<A> bias(grads.dbias.defined(), heads, p.n_entry, chunks, &ranges);
  const TableSums<A> weight(grads.dweight.defined(), heads, p.n_entry, chunks, &ranges);
  const RowBiasSums<T> row_bias(p, grads.drow_bias, chunks);
  Backward<T> b{p, dout, out, rows, chunks, bias, weight, row_bias};

  // The gradients, and the rows of each that a head has.
  struct Output {
    Tensor* to;
    A* Sums<A>::*sum;
    int64_t rows;
  };
  std::vector<Output> outputs{{&grads.dheads.q, &Sums<A>::dq, p.n_query},
                              {&grads.dheads.k, &Sums<A>::dk, p.n_key},
                              {&grads.dheads.v, &Sums<A>::dv, p.n_key}};
  if (p.far_q) {
    outputs.push_back({&grads.dheads.far.q, &Sums<A>::far_dq, p.n_query});
    outputs.push_back({&grads.dheads.far.k, &Sums<A>::far_dk, p.n_key});
  }
  int64_t head_size = 0;
  for (const Output& output : outputs) head_size += output.rows * p.width;
  const int64_t head_bytes = head_size * static_cast<int64_t>(sizeof(A));
  const bool in_place = usable_in_place<T>(p.head_dim);
  const int64_t wave = in_place ? heads : std::clamp(kWaveBytes / head_bytes, int64_t{1}, heads);
  Storage memory(in_place ? 0 : wave * head_bytes, Device{});
  b.sums.q = in_place ? p.rows_of(grads.dheads.q) : HeadRows::by_head(p.n_head, p.n_query, p.width);
  b.sums.k = in_place ? p.rows_of(grads.dheads.k) : HeadRows::by_head(p.n_head, p.n_key, p.width);

  for (b.first_head = 0; b.first_head < heads; b.first_head += wave) {
    const int64_t count = std::min(wave, heads - b.first_head);
    A* buffer = static_cast<A*>(memory.data());
    for (const Output& output : outputs) {
      b.sums.*output.sum = buffer;
      if constexpr (std::is_same_v<T, A>)
        if (in_place) b.sums.*output.sum = output.to->template data<T>();
      if (!in_place) buffer += wave * output.rows * p.width;
    }
    backward_heads(b, count, ranges);
    if (in_place) continue;
    for (const Output& output : outputs)
      round_rows(b.sums.*output.sum, p.width, b.first_head, count, output.rows, p.head_dim,
                 p.rows_of(*output.to), output.to->template data<T>());
  }
  bias.finish(p.n_batch, grads.dbias);
  weight.finish(p.n_batch, grads.dweight);
  row_bias.finish(grads.drow_bias);
}

}  // namespace
}  // namespace attention_cpu

void attention_backward(Cpu, const Heads& heads, const AttentionRule& rule, const Tensor& out,
                        const AttentionRows& rows, const Tensor& dout, AttentionGrads& grads) {
  dispatch_float(heads.q.dtype(), [&](auto type) {
    using T = decltype(type);
    const attention_cpu::Problem<T> p(heads, rule);
    using A = Accumulate<T>;
    using attention_cpu::data_or_null;
    attention_cpu::backward<T>(
        p, dout.data<T>(), out.data<T>(),
        {data_or_null<A>(rows.lse), data_or_null<A>(rows.threshold), data_or_null<A>(rows.sum)},
        grads);
    if (heads.turned_by.cos.defined())
      turn_heads_back(Cpu{}, p.n_head, heads.turned_by, grads.dheads.packed);
  });
}

}  // namespace farfield
