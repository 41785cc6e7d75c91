// Softmax by groups, in float32. A warp takes a query, its lanes the components; blocks of keys
// come one after the other, and each counts as one key with the score of its landmark. The
// gradients of keys and tables are sums over queries, made by one thread block for each block of
// keys. Nothing is added by several blocks, so the order of all sums is fixed.

#include "engine/cuda/attention_scores.cuh"
#include "engine/cuda/block.cuh"
#include "engine/cuda/sum_parts.h"
#include "engine/kernels/attention_landmark.h"
#include "engine/kernels/attention_normalizer.h"

namespace farfield {
namespace attention_cuda {
namespace {

// The components of a row that a lane has: c = lane, lane + 32, ...
template <int kParts>
struct Components {
  float at[kParts] = {};

  template <class T>
  __device__ static Components of(const T* row, int head_dim) {
    Components x;
    for_each(head_dim, [&](int part, int c) { x.at[part] = widen(row[c]); });
    return x;
  }
  /// f(part, component)
  template <class F>
  __device__ static void for_each(int head_dim, const F& f) {
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      const int c = static_cast<int>(threadIdx.x) % kWarp + part * kWarp;
      if (c < head_dim) f(part, c);
    }
  }
  __device__ void add(float by, const Components& x) {
#pragma unroll
    for (int part = 0; part < kParts; ++part) at[part] = std::fma(by, x.at[part], at[part]);
  }
  __device__ void scale(float by) {
#pragma unroll
    for (int part = 0; part < kParts; ++part) at[part] *= by;
  }
};
/// In every lane.
template <int kParts>
__device__ float dot(const Components<kParts>& a, const Components<kParts>& b) {
  float sum = 0;
#pragma unroll
  for (int part = 0; part < kParts; ++part) sum = std::fma(a.at[part], b.at[part], sum);
  return warp_sum(sum);
}

// An online softmax: sum and value are relative to exp(the largest score so far).
template <int kParts>
struct OnlineSoftmax {
  float largest = -kInfinity, sum = 0;
  Components<kParts> value = {};  ///< the sum of exponentials times values

  /// by: a factor of the value alone.
  __device__ void add(float score, float by, const Components<kParts>& x) {
    if (score > largest) {
      const float scale = sum == 0 ? 0 : std::exp(largest - score);
      sum *= scale;
      value.scale(scale);
      largest = score;
    }
    // Where all are hidden: relative to 0, all exponentials are 0.
    const float e = std::exp(score - (largest == -kInfinity ? 0 : largest));
    sum += e;
    value.add(e * by, x);
  }
  /// +infinity if nothing is seen.
  __device__ float log_sum() const { return sum == 0 ? kInfinity : largest + std::log(sum); }
};

// A query, with what its pairs share.
template <class T, int kParts>
class Query {
 public:
  using Row = Components<kParts>;

  __device__ Query(const Problem<T>& p, int head, int i)
      : p_(p),
        head_(head),
        i_(i),
        factor_(p.scale * (p.row_scale ? p.row_scale[i] : 1)),
        scores_(p, p.head_at(head)),
        q_(Row::of(p.q + (int64_t{head} * p.n_query + i) * p.head_dim, p.head_dim)) {
    scores_.start_tile({}, 0, p.n_query, 0, p.n_key);
  }

  __device__ int64_t position() const { return p_.first_position() + i_; }
  /// Of its dot products.
  __device__ float factor() const { return factor_; }
  __device__ Row key(int64_t n) const { return of_key(p_.k, n); }
  __device__ Row value(int64_t n) const { return of_key(p_.v, n); }
  __device__ Score score(int64_t n) { return score(n, key(n)); }
  __device__ Score score(int64_t n, const Row& key) {
    return scores_(dot(q_, key), factor_, i_, static_cast<int>(n));
  }
  /// What dropout multiplies the probability by.
  __device__ float kept(int64_t n) const {
    if (!p_.mask.is_on()) return 1;
    return p_.mask.keeps(head_, i_, n) ? static_cast<float>(p_.mask.scale()) : 0;
  }
  /// Where its row of out and dout is.
  __device__ int64_t out_at() const {
    const Head head = p_.head_at(head_);
    return ((int64_t{head.batch} * p_.n_query + i_) * p_.n_head + head.h) * p_.head_dim;
  }
  /// Where its number in an array by row is.
  __device__ int64_t row_at() const { return int64_t{head_} * p_.n_query + i_; }

 private:
  __device__ Row of_key(const T* x, int64_t n) const {
    return Row::of(x + (int64_t{head_ / p_.group_size} * p_.n_key + n) * p_.head_dim, p_.head_dim);
  }

  const Problem<T>& p_;
  int head_, i_;
  float factor_;
  GeneralScores<T> scores_;
  Row q_;
};

template <class T, int kParts>
__global__ void __launch_bounds__(kBlock)
    landmark_forward_kernel(Problem<T> p, LandmarkBlocks blocks, T* out, float* lse) {
  const int64_t warp = thread_index() / kWarp;
  if (warp >= int64_t{p.heads()} * p.n_query) return;
  Query<T, kParts> query(p, static_cast<int>(warp / p.n_query), static_cast<int>(warp % p.n_query));
  const int64_t m = query.position(), own = blocks.block_of(m);
  OnlineSoftmax<kParts> row;
  for (int64_t b = 0; b < own; ++b) {
    OnlineSoftmax<kParts> block;
    for (int64_t n = blocks.begin(b); n < blocks.landmark(b); ++n)
      block.add(query.score(n).value, query.kept(n), query.value(n));
    if (block.sum == 0) continue;  // hidden
    block.value.scale(1 / block.sum);
    row.add(query.score(blocks.landmark(b)).value, 1, block.value);
  }
  for (int64_t n = blocks.begin(own); n < blocks.own_end(m); ++n)
    row.add(query.score(n).value, query.kept(n), query.value(n));
  row.value.scale(inverse_sum(row.sum));
  T* const to = out + query.out_at();
  Components<kParts>::for_each(p.head_dim,
                               [&](int part, int c) { to[c] = narrow<T>(row.value.at[part]); });
  if (threadIdx.x % kWarp == 0) lse[query.row_at()] = row.log_sum();
}

// dq, and for the other kernel the sum of P dP of each row.
template <class T, int kParts>
__global__ void __launch_bounds__(kBlock)
    landmark_queries_kernel(Problem<T> p, LandmarkBlocks blocks, const T* out, const T* dout,
                            const float* lse, float* row_sums, T* dq) {
  using Row = Components<kParts>;
  const int64_t warp = thread_index() / kWarp;
  if (warp >= int64_t{p.heads()} * p.n_query) return;
  Query<T, kParts> query(p, static_cast<int>(warp / p.n_query), static_cast<int>(warp % p.n_query));
  const int64_t m = query.position(), own = blocks.block_of(m);
  const Row dout_row = Row::of(dout + query.out_at(), p.head_dim);
  const float of_row = dot(dout_row, Row::of(out + query.out_at(), p.head_dim));
  const float shift = lse[query.row_at()];
  Row sum;
  // For key n, in a group with this log-sum-exp and sum of s dP, and with the share of its
  // landmark.
  const auto add_token = [&](int64_t n, float log_sum, float mean, float landmark) {
    const Row key = query.key(n);
    const Score score = query.score(n, key);
    const float dp = query.kept(n) * dot(dout_row, query.value(n));
    const float dscore = softmax_grad(std::exp(score.value - log_sum) * landmark, dp, mean);
    sum.add(dscore * score.weight, key);
  };
  for (int64_t b = 0; b < own; ++b) {
    OnlineSoftmax<1> block;  // its values are the dP
    for (int64_t n = blocks.begin(b); n < blocks.landmark(b); ++n)
      block.add(query.score(n).value, 1, {{query.kept(n) * dot(dout_row, query.value(n))}});
    if (block.sum == 0) continue;
    const float mean = block.value.at[0] / block.sum;
    const Row key = query.key(blocks.landmark(b));
    const Score score = query.score(blocks.landmark(b), key);
    const float landmark = std::exp(score.value - shift);
    sum.add(softmax_grad(landmark, mean, of_row) * score.weight, key);
    for (int64_t n = blocks.begin(b); n < blocks.landmark(b); ++n)
      add_token(n, block.log_sum(), mean, landmark);
  }
  for (int64_t n = blocks.begin(own); n < blocks.own_end(m); ++n) add_token(n, shift, of_row, 1);
  T* const to = dq + query.row_at() * p.head_dim;
  Row::for_each(p.head_dim,
                [&](int part, int c) { to[c] = narrow<T>(query.factor() * sum.at[part]); });
  if (threadIdx.x % kWarp == 0) row_sums[query.row_at()] = of_row;
}

// Inputs and outputs of the kernel of keys. Tables' gradients: [H, B * n_slot, L], null if not
// wanted.
template <class T>
struct KeyArguments {
  const T* dout;
  const float *lse, *row_sums;
  T *dk, *dv;
  float *dk_sums, *dv_sums;  ///< [B, H, S, K]
  float* pairs;              ///< [B, H, kPairValues, S], of one query at a time
  float *dbias, *dweight;
  int n_slot;
};
constexpr int kPairValues = 5;
constexpr int kMostSlots = 16;  // thread blocks of a head

// A block of keys and one query: what each key has.
struct PairValues {
  float *score, *content, *weight;
  float* dp;    ///< then dscore
  float* kept;  ///< of dropout, then that times P
};

// The entry of tables for query m and key n, or -1 outside of them.
template <class T>
__device__ int64_t entry_of(const Problem<T>& p, const int* ids, int64_t m, int64_t n) {
  const int64_t entry = ids ? int64_t{ids[m]} - ids[n] : m - n;
  return entry < p.n_entry ? entry : -1;
}

// table[e] += the sum over keys of f(n), e the entry of query m and key n. A thread takes the keys
// that share an entry: they are neighbours, since ids do not fall.
template <class T, class F>
__device__ void add_to_table(const Problem<T>& p, const int* ids, int64_t m, int64_t begin,
                             int n_seen, float* table, const F& f) {
  for (int n = static_cast<int>(threadIdx.x); n < n_seen; n += kBlock) {
    const int64_t entry = entry_of(p, ids, m, begin + n);
    if (entry < 0 || (n > 0 && entry_of(p, ids, m, begin + n - 1) == entry)) continue;
    float sum = 0;
    for (int j = n; j < n_seen && entry_of(p, ids, m, begin + j) == entry; ++j) sum += f(j);
    table[entry] += sum;
  }
}

template <class T, int kParts>
__global__ void __launch_bounds__(kBlock)
    landmark_keys_kernel(Problem<T> p, LandmarkBlocks blocks, KeyArguments<T> args) {
  using Row = Components<kParts>;
  const int index = static_cast<int>(blockIdx.x) / args.n_slot;
  const int slot = static_cast<int>(blockIdx.x) % args.n_slot;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const Head head = p.head_at(index);
  const int* const ids =
      p.ids ? p.ids + (p.ids_per_sequence ? int64_t{head.batch} * p.n_key : 0) : nullptr;
  const int64_t slice =
      ((int64_t{head.h} * p.n_batch + head.batch) * args.n_slot + slot) * p.n_entry;
  const int64_t n_block = blocks.block_of(p.n_key - 1) + 1;
  for (int64_t b = slot; b < n_block; b += args.n_slot) {
    const int64_t begin = blocks.begin(b), end = blocks.begin(b + 1);
    const int n_key = static_cast<int>((end < p.n_key ? end : p.n_key) - begin);
    const int64_t first_element = (int64_t{index} * p.n_key + begin) * p.head_dim;
    float* const dk = args.dk_sums + first_element;
    float* const dv = args.dv_sums + first_element;
    float* const pairs = args.pairs + int64_t{index} * kPairValues * p.n_key + begin;
    const PairValues pair{pairs, pairs + p.n_key, pairs + 2 * int64_t{p.n_key},
                          pairs + 3 * int64_t{p.n_key}, pairs + 4 * int64_t{p.n_key}};
    for (int at = static_cast<int>(threadIdx.x); at < n_key * p.head_dim; at += kBlock)
      dk[at] = dv[at] = 0;

    const int64_t first_query = begin - p.first_position();
    for (int i = first_query > 0 ? static_cast<int>(first_query) : 0; i < p.n_query; ++i) {
      Query<T, kParts> query(p, index, i);
      const int64_t m = query.position();
      const bool is_own = blocks.block_of(m) == b;
      const int n_token = static_cast<int>(is_own ? blocks.own_end(m) - begin : blocks.n_token);
      const int n_seen = is_own ? n_token : n_token + 1;  // the last is the landmark
      const Row dout = Row::of(args.dout + query.out_at(), p.head_dim);
      __syncthreads();  // the query before is done with the pairs
      for (int n = warp; n < n_seen; n += kWarps) {
        const Score score = query.score(begin + n);
        const float kept = query.kept(begin + n), dp = dot(dout, query.value(begin + n));
        if (threadIdx.x % kWarp != 0) continue;
        pair.score[n] = score.value;
        pair.content[n] = score.content;
        pair.weight[n] = score.weight;
        pair.dp[n] = kept * dp;
        pair.kept[n] = kept;
      }
      __syncthreads();

      const float of_row = args.row_sums[query.row_at()];
      float shift = args.lse[query.row_at()], mean = of_row, landmark = 1;
      if (!is_own) {
        landmark = std::exp(pair.score[n_token] - shift);
        float largest = -kInfinity;
        for (int n = static_cast<int>(threadIdx.x); n < n_token; n += kBlock)
          largest = pair.score[n] > largest ? pair.score[n] : largest;
        largest = block_max(largest);
        if (largest == -kInfinity) largest = 0;
        float sums[2] = {};  // of exponentials, and of these times dP
        for (int n = static_cast<int>(threadIdx.x); n < n_token; n += kBlock) {
          const float e = std::exp(pair.score[n] - largest);
          sums[0] += e;
          sums[1] += e * pair.dp[n];
        }
        block_sum(sums);
        if (sums[0] == 0) landmark = 0;  // hidden
        shift = largest + std::log(sums[0] == 0 ? 1 : sums[0]);
        mean = sums[1] * inverse_sum(sums[0]);
      }
      for (int n = static_cast<int>(threadIdx.x); n < n_seen; n += kBlock) {
        const bool is_landmark = n == n_token;
        const float probability = is_landmark ? 0 : std::exp(pair.score[n] - shift) * landmark;
        pair.dp[n] = is_landmark ? softmax_grad(landmark, mean, of_row)
                                 : softmax_grad(probability, pair.dp[n], mean);
        pair.kept[n] *= probability;
      }
      __syncthreads();

      if (args.dbias)
        add_to_table(p, ids, m, begin, n_seen, args.dbias + slice,
                     [&](int n) { return pair.dp[n]; });
      if (args.dweight)
        add_to_table(p, ids, m, begin, n_seen, args.dweight + slice,
                     [&](int n) { return pair.dp[n] * pair.content[n]; });
      const T* const q = p.q + query.row_at() * p.head_dim;
      const T* const dout_row = args.dout + query.out_at();
      for (int at = static_cast<int>(threadIdx.x); at < n_seen * p.head_dim; at += kBlock) {
        const int n = at / p.head_dim, c = at % p.head_dim;
        dk[at] += pair.dp[n] * pair.weight[n] * query.factor() * widen(q[c]);
        dv[at] += pair.kept[n] * widen(dout_row[c]);
      }
    }
    __syncthreads();
    for (int at = static_cast<int>(threadIdx.x); at < n_key * p.head_dim; at += kBlock) {
      args.dk[first_element + at] = narrow<T>(dk[at]);
      args.dv[first_element + at] = narrow<T>(dv[at]);
    }
  }
}

// f(the T of the heads, the problem, integral_constant<int, components of a lane>()).
template <class F>
void with_problem(const Heads& heads, const AttentionRule& rule, const F& f) {
  check_head_dim(heads.q.dim(3));
  check_rows(heads);
  dispatch_device_float(heads.q.dtype(), [&](auto type) {
    using T = decltype(type);
    const Problem<T> p(heads, rule);
    dispatch_head_dim(p.head_dim,
                      [&](auto size) { f(p, std::integral_constant<int, size() / kWarp>()); });
  });
}
template <class T>
dim3 blocks_of_queries(const Problem<T>& p) {
  return static_cast<unsigned>((int64_t{p.heads()} * p.n_query + kWarps - 1) / kWarps);
}

}  // namespace
}  // namespace attention_cuda

void landmark_attention_forward(Cuda device, const Heads& heads, const AttentionRule& rule,
                                Tensor& out, AttentionRows& rows) {
  using namespace attention_cuda;
  const LandmarkBlocks blocks(rule.normalizer.block, heads.k.dim(2));
  with_problem(heads, rule, [&]<class T, class Parts>(const Problem<T>& p, Parts parts) {
    launch(landmark_forward_kernel<T, parts()>, blocks_of_queries(p), kBlock, 0, stream_of(device),
           p, blocks, out.data<T>(), rows.lse.data<float>());
  });
}

void landmark_attention_backward(Cuda device, const Heads& heads, const AttentionRule& rule,
                                 const Tensor& out, const AttentionRows& rows, const Tensor& dout,
                                 AttentionGrads& grads) {
  using namespace attention_cuda;
  const LandmarkBlocks blocks(rule.normalizer.block, heads.k.dim(2));
  with_problem(heads, rule, [&]<class T, class Parts>(const Problem<T>& p, Parts parts) {
    const Device& there = heads.q.device();
    Tensor row_sums = Tensor::empty(rows.lse.shape(), DType::f32, there);
    launch(landmark_queries_kernel<T, parts()>, blocks_of_queries(p), kBlock, 0, stream_of(device),
           p, blocks, out.data<T>(), dout.data<T>(), rows.lse.data<float>(), row_sums.data<float>(),
           grads.dheads.q.data<T>());

    const Shape& by_head = grads.dheads.k.shape();
    Tensor dk_sums = Tensor::empty(by_head, DType::f32, there),
           dv_sums = Tensor::empty(by_head, DType::f32, there),
           pairs = Tensor::empty({p.heads(), kPairValues, p.n_key}, DType::f32, there);
    const int64_t n_block = blocks.block_of(p.n_key - 1) + 1;
    const int n_slot = static_cast<int>(std::min<int64_t>(n_block, kMostSlots));
    const auto slices_for = [&](const Tensor& table) {
      const Shape slices{p.n_head, int64_t{p.n_batch} * n_slot, p.n_entry};
      return table.defined() ? Tensor::zeros(slices, DType::f32, there) : Tensor();
    };
    Tensor bias = slices_for(grads.dbias), weight = slices_for(grads.dweight);
    const KeyArguments<T> args{dout.data<T>(),
                               rows.lse.data<float>(),
                               row_sums.data<float>(),
                               grads.dheads.k.data<T>(),
                               grads.dheads.v.data<T>(),
                               dk_sums.data<float>(),
                               dv_sums.data<float>(),
                               pairs.data<float>(),
                               data_or_null<float>(bias),
                               data_or_null<float>(weight),
                               n_slot};
    launch(landmark_keys_kernel<T, parts()>, static_cast<unsigned>(p.heads() * n_slot), kBlock, 0,
           stream_of(device), p, blocks, args);
    const auto sum_slices = [&](const Tensor& slices, Tensor& table) {
      if (table.defined())
        sum_parts(device,
                  {slices.data<float>(), p.n_head, int64_t{p.n_batch} * n_slot, 1, p.n_entry},
                  {{table.data<float>()}});
    };
    sum_slices(bias, grads.dbias);
    sum_slices(weight, grads.dweight);
  });
}

}  // namespace farfield
