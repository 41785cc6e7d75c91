#include "engine/kernels/index.h"

#include <algorithm>
#include <array>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/kernels/pointwise.h"

namespace farfield {
namespace {

constexpr int64_t kGrain = int64_t{1} << 15;  // elements of a chunk

template <class From, class To>
void convert(const From* __restrict from, int64_t n, To* __restrict to) {
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_same_v<From, To>)
      to[i] = from[i];
    else
      to[i] = static_cast<To>(static_cast<Accumulate<From>>(from[i]));
  }
}

// The cosines and sines of one position, times the scale of q or k.
template <class A>
struct Turn {
  const A* cos = nullptr;
  const A* sin = nullptr;
};

// The tables of a rotation, as rows of R/2.
template <class A>
class Turns {
 public:
  explicit Turns(const Rotation& r) {
    if (!r.cos.defined()) return;
    half_ = r.cos.dim(-1);
    cos_ = r.cos.data<A>();
    sin_ = r.sin.data<A>();
    scale_q_ = r.scale_q.defined() ? r.scale_q.data<A>() : nullptr;
    scale_k_ = r.scale_k.defined() ? r.scale_k.data<A>() : nullptr;
    per_batch_ = r.cos.rank() == 3;
  }

  int64_t half() const { return half_; }
  // scratch: room for 4 half() values per position, shared by q and k
  Turn<A> q(int64_t b, int64_t t, int64_t n_t, A* scratch) const {
    return at(b, t, n_t, scale_q_, scratch);
  }
  Turn<A> k(int64_t b, int64_t t, int64_t n_t, A* scratch) const {
    return at(b, t, n_t, scale_k_, scratch + 2 * half_);
  }

 private:
  Turn<A> at(int64_t b, int64_t t, int64_t n_t, const A* scale, A* scratch) const {
    const int64_t offset = ((per_batch_ ? b * n_t : 0) + t) * half_;
    if (scale == nullptr || half_ == 0) return {cos_ + offset, sin_ + offset};
    for (int64_t i = 0; i < half_; ++i) scratch[i] = cos_[offset + i] * scale[offset + i];
    for (int64_t i = 0; i < half_; ++i) scratch[half_ + i] = sin_[offset + i] * scale[offset + i];
    return {scratch, scratch + half_};
  }

  int64_t half_ = 0;
  bool per_batch_ = false;
  const A* cos_ = nullptr;
  const A* sin_ = nullptr;
  const A* scale_q_ = nullptr;
  const A* scale_k_ = nullptr;
};

// One head of one position, K components of which the first 2 half are turned; backwards when
// kTransposed.
template <bool kTransposed, class T>
void turn(const T* __restrict x, const Turn<Accumulate<T>>& by, int64_t half, int64_t head_dim,
          bool interleaved, T* __restrict y) {
  using A = Accumulate<T>;
  const A* __restrict cos = by.cos;
  const A* __restrict sin = by.sin;
  constexpr A kSign = kTransposed ? -1 : 1;
  const auto first = [&](A a, A b, int64_t i) {
    return static_cast<T>(a * cos[i] - kSign * (b * sin[i]));
  };
  const auto second = [&](A a, A b, int64_t i) {
    return static_cast<T>(kSign * (a * sin[i]) + b * cos[i]);
  };
  if (interleaved) {
    for (int64_t i = 0; i < half; ++i) {
      const A a = static_cast<A>(x[2 * i]), b = static_cast<A>(x[2 * i + 1]);
      y[2 * i] = first(a, b, i);
      y[2 * i + 1] = second(a, b, i);
    }
  } else {
    for (int64_t i = 0; i < half; ++i) {
      const A a = static_cast<A>(x[i]), b = static_cast<A>(x[half + i]);
      y[i] = first(a, b, i);
      y[half + i] = second(a, b, i);
    }
  }
  std::copy(x + 2 * half, x + head_dim, y + 2 * half);
}

// Calls body(offset of a head in qkv, its offset in q, q's turn, k's turn, R/2) for every head of
// every position: a block of positions head by head, so that both sides are read and written in
// pieces of a few kilobytes.
template <class T, class F>
void for_each_head(const Shape& heads, const Rotation& rotation, const F& body) {
  using A = Accumulate<T>;
  constexpr int64_t kBlock = 16;
  const int64_t n_b = heads[0], n_h = heads[1], n_t = heads[2], head_dim = heads[3];
  const int64_t row = 3 * n_h * head_dim, n_blocks = (n_t + kBlock - 1) / kBlock;
  if (row == 0) return;
  const Turns<A> turns(rotation);
  const int64_t scratch_size = 4 * turns.half();
  parallel_for(n_b * n_blocks, [&](int64_t index) {
    const int64_t b = index / n_blocks, begin = index % n_blocks * kBlock;
    const int64_t n = std::min(kBlock, n_t - begin);
    std::vector<A> scratch(static_cast<size_t>(kBlock * scratch_size));
    std::array<Turn<A>, kBlock> q, k;
    for (int64_t i = 0; i < n; ++i) {
      A* const room = scratch.data() + i * scratch_size;
      q[static_cast<size_t>(i)] = turns.q(b, begin + i, n_t, room);
      k[static_cast<size_t>(i)] = turns.k(b, begin + i, n_t, room);
    }
    for (int64_t h = 0; h < n_h; ++h)
      for (int64_t i = 0; i < n; ++i)
        body((b * n_t + begin + i) * row + 3 * h * head_dim,
             ((b * n_h + h) * n_t + begin + i) * head_dim, q[static_cast<size_t>(i)],
             k[static_cast<size_t>(i)], turns.half());
  });
}

template <class D>
void embedding_gradient(const int32_t* ids, int64_t n_ids, const Tensor& dy, int64_t d, D* dtable) {
  // A job owns the rows with v % kShares == its share, in some columns, and walks all ids in order.
  constexpr int64_t kShares = 4, kColumns = 64;
  const int64_t column_jobs = (d + kColumns - 1) / kColumns;
  dispatch_float(dy.dtype(), [&](auto type) {
    using T = decltype(type);
    const T* const from = dy.data<T>();
    parallel_for(kShares * column_jobs, [&](int64_t job) {
      const int64_t begin = job / kShares * kColumns, n = std::min(kColumns, d - begin);
      for (int64_t i = 0; i < n_ids; ++i) {
        if (ids[i] % kShares != job % kShares) continue;
        const T* const in = from + i * d + begin;
        D* const total = dtable + ids[i] * d + begin;
        for (int64_t c = 0; c < n; ++c) total[c] += static_cast<D>(in[c]);
      }
    });
  });
}

}  // namespace

void embedding_forward(Cpu, const Tensor& table, const Tensor& ids, Tensor& y) {
  const int64_t d = table.dim(1);
  if (d == 0) return;
  const int32_t* const id = ids.data<int32_t>();
  dispatch_float(table.dtype(), [&](auto from_type) {
    dispatch_float(y.dtype(), [&](auto to_type) {
      using From = decltype(from_type);
      using To = decltype(to_type);
      const From* const from = table.data<From>();
      To* const to = y.data<To>();
      parallel_chunks(ids.numel(), std::max<int64_t>(1, kGrain / d),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i)
                          convert(from + id[i] * d, d, to + i * d);
                      });
    });
  });
}

void embedding_backward(Cpu, const Tensor& ids, const Tensor& dy, Tensor& dtable) {
  const int64_t d = dtable.dim(1);
  const int32_t* const id = ids.data<int32_t>();
  // A bfloat16 table still sums in float32.
  Tensor total = dtable.dtype() == DType::bf16 ? Tensor::empty(dtable.shape(), DType::f32) : dtable;
  fill(Cpu{}, 0, total);
  if (total.dtype() == DType::f64)
    embedding_gradient(id, ids.numel(), dy, d, total.data<double>());
  else
    embedding_gradient(id, ids.numel(), dy, d, total.data<float>());
  if (dtable.dtype() == DType::bf16) cast(Cpu{}, total, dtable);
}

void split_heads_forward(Cpu, const Tensor& qkv, const Rotation& rotation, Tensor& q, Tensor& k,
                         Tensor& v) {
  dispatch_float(qkv.dtype(), [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    const int64_t head_dim = q.dim(3);
    const bool pairs = rotation.interleaved;
    const T* const from = qkv.data<T>();
    T *const to_q = q.data<T>(), *const to_k = k.data<T>(), *const to_v = v.data<T>();
    for_each_head<T>(
        q.shape(), rotation,
        [&](int64_t row, int64_t at, const Turn<A>& turn_q, const Turn<A>& turn_k, int64_t half) {
          const T* const in = from + row;
          turn<false>(in, turn_q, half, head_dim, pairs, to_q + at);
          turn<false>(in + head_dim, turn_k, half, head_dim, pairs, to_k + at);
          std::copy_n(in + 2 * head_dim, head_dim, to_v + at);
        });
  });
}

void split_heads_backward(Cpu, const Tensor& dq, const Tensor& dk, const Tensor& dv,
                          const Rotation& rotation, Tensor& dqkv) {
  dispatch_float(dqkv.dtype(), [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    const int64_t head_dim = dq.dim(3);
    const bool pairs = rotation.interleaved;
    const T *const from_q = dq.data<T>(), *const from_k = dk.data<T>(),
                   *const from_v = dv.data<T>();
    T* const to = dqkv.data<T>();
    for_each_head<T>(
        dq.shape(), rotation,
        [&](int64_t row, int64_t at, const Turn<A>& turn_q, const Turn<A>& turn_k, int64_t half) {
          T* const out = to + row;
          turn<true>(from_q + at, turn_q, half, head_dim, pairs, out);
          turn<true>(from_k + at, turn_k, half, head_dim, pairs, out + head_dim);
          std::copy_n(from_v + at, head_dim, out + 2 * head_dim);
        });
  });
}

}  // namespace farfield
