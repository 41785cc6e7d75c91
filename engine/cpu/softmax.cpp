#include "engine/kernels/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/cpu/sum_of.h"
#include "engine/kernels/row_formulas.h"
#include "engine/vector_math.h"

namespace farfield {
namespace {

constexpr int64_t kGrain = int64_t{1} << 14;  // elements of a chunk

// Calls body(row) for each row, in chunks.
template <class F>
void for_each_row(const Tensor& x, const F& body) {
  const int64_t n = x.dim(-1);
  if (n == 0) return;
  parallel_chunks(x.numel() / n, std::max<int64_t>(1, kGrain / n), body);
}

template <class T>
Accumulate<T> max_of(const T* x, int64_t n) {
  using A = Accumulate<T>;
  constexpr int kLanes = 32;
  A lanes[kLanes];
  std::fill_n(lanes, kLanes, -std::numeric_limits<A>::infinity());
  int64_t i = 0;
  const auto take = [&](int lane, int64_t at) {
    const A value = static_cast<A>(x[at]);
    lanes[lane] = value > lanes[lane] ? value : lanes[lane];
  };
  for (; i + kLanes <= n; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) take(lane, i + lane);
  for (; i < n; ++i) take(0, i);
  return *std::max_element(lanes, lanes + kLanes);
}

}  // namespace

void softmax_forward(Cpu, const Tensor& x, bool log, Tensor& y) {
  dispatch_float(x.dtype(), [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    const int64_t n = x.dim(-1);
    const T* const from = x.data<T>();
    T* const to = y.data<T>();
    for_each_row(x, [&](int64_t begin, int64_t end) {
      std::vector<A> row(static_cast<size_t>(n));
      A* const e = row.data();
      for (int64_t r = begin; r < end; ++r) {
        const T* const in = from + r * n;
        T* const out = to + r * n;
        const A max = max_of(in, n);  // subtracted: exp overflows above 88.72 in float32
        for (int64_t i = 0; i < n; ++i) e[i] = fast_exp(static_cast<A>(in[i]) - max);
        const A total = sum_of<A>(n, [&](auto at) { return at(e); });
        if (log) {
          const A shift = std::log(total);
          for (int64_t i = 0; i < n; ++i)
            out[i] = static_cast<T>(static_cast<A>(in[i]) - max - shift);
        } else {
          const A factor = 1 / total;
          for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(e[i] * factor);
        }
      }
    });
  });
}

void softmax_backward(Cpu, const Tensor& y, const Tensor& dy, bool log, Tensor& dx) {
  dispatch_float(y.dtype(), [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    const int64_t n = y.dim(-1);
    const T *const out = y.data<T>(), *const grad = dy.data<T>();
    T* const to = dx.data<T>();
    for_each_row(y, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const T *const p = out + r * n, *const g = grad + r * n;
        T* const d = to + r * n;
        if (log) {
          const A total = sum_of<A>(n, [&](auto at) { return at(g); });
          for (int64_t i = 0; i < n; ++i)
            d[i] =
                static_cast<T>(log_softmax_grad(static_cast<A>(p[i]), static_cast<A>(g[i]), total));
        } else {
          const A total = sum_of<A>(n, [&](auto at) { return at(p) * at(g); });
          for (int64_t i = 0; i < n; ++i)
            d[i] = static_cast<T>(softmax_grad(static_cast<A>(p[i]), static_cast<A>(g[i]), total));
        }
      }
    });
  });
}

}  // namespace farfield
