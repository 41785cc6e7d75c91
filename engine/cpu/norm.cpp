#include "engine/kernels/norm.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/cpu/sum_of.h"
#include "engine/kernels/row_formulas.h"

namespace farfield {
namespace {

constexpr int64_t kGrain = int64_t{1} << 15;  // elements of a chunk

// f(n, begin, end) for chunks of rows of d values, in parallel; n, a constant, is the number of
// rows whose means, roots and quotients are computed together. Several pay for short rows of narrow
// numbers, whose few vectors do not hide how long these take.
template <class T, class F>
void for_chunks_of_rows(int64_t rows, int64_t grain, int64_t d, const F& f) {
  using A = Accumulate<T>;
  constexpr int64_t kShort = 128;
  const auto run = [&](auto at_once) {
    parallel_chunks(rows, grain, [&](int64_t begin, int64_t end) { f(at_once, begin, end); });
  };
  if constexpr (!std::is_same_v<T, A>)
    if (d <= kShort) return run(std::integral_constant<int64_t, lanes::kLanes<A>>{});
  run(std::integral_constant<int64_t, 1>{});
}

// Rows of a chunk whose contributions to dweight and dbias are summed before they are combined: at
// most 64 chunks, so that the partial sums stay small.
int64_t rows_per_partial(int64_t rows, int64_t d) {
  return std::max({int64_t{1}, kGrain / d, (rows + 63) / 64});
}

template <class T>
struct Row {
  using A = Accumulate<T>;

  // x + residual? as it will be stored; where T is narrow widened, in room for d values.
  static const A* load(const T* __restrict x, const T* __restrict residual, int64_t d,
                       T* __restrict sum, A* __restrict room) {
    if (residual != nullptr) {
      for (int64_t i = 0; i < d; ++i)
        sum[i] = static_cast<T>(static_cast<A>(x[i]) + static_cast<A>(residual[i]));
      x = sum;
    }
    if constexpr (std::is_same_v<T, A>) {
      return x;
    } else {
      for (int64_t i = 0; i < d; ++i) room[i] = static_cast<A>(x[i]);
      return room;
    }
  }

  static void normalize(const A* __restrict s, A mean, A rstd, const A* __restrict weight,
                        const A* __restrict bias, int64_t d, T* __restrict y) {
    if (bias == nullptr) {
      for (int64_t i = 0; i < d; ++i)
        y[i] = static_cast<T>(normalized(s[i], mean, rstd) * weight[i]);
      return;
    }
    for (int64_t i = 0; i < d; ++i)
      y[i] = static_cast<T>(normalized(s[i], mean, rstd) * weight[i] + bias[i]);
  }

  // n = (s - mean) rstd and g = dy weight of a row.
  static void gradient_terms(const T* __restrict s, const T* __restrict dy,
                             const A* __restrict weight, A mean, A rstd, int64_t d, A* __restrict n,
                             A* __restrict g) {
    for (int64_t i = 0; i < d; ++i) {
      n[i] = normalized(static_cast<A>(s[i]), mean, rstd);
      g[i] = static_cast<A>(dy[i]) * weight[i];
    }
  }

  // ds = rstd (g - mean(g) - n mean(g n)) + dsum? of a row; without a mean in n, without mean(g).
  static void backward(const A* __restrict n, const A* __restrict g, A mean_g, A mean_gn, A rstd,
                       const T* __restrict dsum, int64_t d, T* __restrict ds) {
    if (dsum == nullptr) {
      for (int64_t i = 0; i < d; ++i)
        ds[i] = static_cast<T>(normalized_grad(n[i], g[i], mean_g, mean_gn, rstd));
    } else {
      for (int64_t i = 0; i < d; ++i)
        ds[i] = static_cast<T>(normalized_grad(n[i], g[i], mean_g, mean_gn, rstd) +
                               static_cast<A>(dsum[i]));
    }
  }

  // Adds the shares of rows to dweight and dbias, column by column: sums stay in registers. means
  // may be null.
  static void add_to_weights(const T* s, const T* dy, const A* means, const A* rstds, int64_t rows,
                             int64_t d, A* dweight, A* dbias) {
    const auto add = [&](auto at, auto* column_w, auto* column_b) {
      auto w = at(dweight), b = at(dbias);
      for (int64_t row = 0; row < rows; ++row) {
        const auto g = at(dy + row * d);
        w += g * ((at(s + row * d) - (means == nullptr ? A{0} : means[row])) * rstds[row]);
        b += g;
      }
      std::memcpy(column_w, &w, sizeof w);
      std::memcpy(column_b, &b, sizeof b);
    };
    using V = lanes::Vec<A>;
    constexpr int64_t kWidth = lanes::kLanes<A>;
    int64_t i = 0;
    for (; i + kWidth <= d; i += kWidth) add(At<V>{i}, dweight + i, dbias + i);
    for (; i < d; ++i) add(At<A>{i}, dweight + i, dbias + i);
  }
};

}  // namespace

void layer_norm_forward(Cpu, const Tensor& x, const Tensor& residual, const Tensor& weight,
                        const Tensor& bias, double eps, Tensor& sum, Tensor& y, Tensor& mean,
                        Tensor& rstd) {
  dispatch_float(x.dtype(), [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    const int64_t d = weight.numel(), rows = rstd.numel();
    const T* const in = x.data<T>();
    const T* const add = residual.defined() ? residual.data<T>() : nullptr;
    T* const stored = residual.defined() ? sum.data<T>() : nullptr;
    const A *const w = weight.data<A>(), *const b = bias.defined() ? bias.data<A>() : nullptr;
    T* const out = y.data<T>();
    A *const means = mean.defined() ? mean.data<A>() : nullptr, *const rstds = rstd.data<A>();
    const int64_t grain = std::max<int64_t>(1, kGrain / d);
    for_chunks_of_rows<T>(rows, grain, d, [&](auto at_once, int64_t begin, int64_t end) {
      constexpr bool kWidens = !std::is_same_v<T, A>;
      constexpr int64_t kRows = at_once();
      std::vector<A> room(static_cast<size_t>(kWidens ? kRows * d : 0));
      for (int64_t row = begin; row < end; row += kRows) {
        const int64_t n = std::min(kRows, end - row);
        const A* s[kRows];
        for (int64_t i = 0; i < n; ++i) {
          const int64_t first = (row + i) * d;
          s[i] = Row<T>::load(in + first, add != nullptr ? add + first : nullptr, d,
                              add != nullptr ? stored + first : nullptr,
                              kWidens ? room.data() + i * d : nullptr);
        }
        A m[kRows] = {}, r[kRows];
        RowMeans<A, kRows> rows_s, squares;
        if (means != nullptr) {
          for (int64_t i = 0; i < n; ++i)
            rows_s.set(i, d, [s_i = s[i]](auto at) { return at(s_i); });
          rows_s.finish(d, m);
        }
        for (int64_t i = 0; i < n; ++i)
          squares.set(i, d, [s_i = s[i], m_i = m[i]](auto at) {
            return (at(s_i) - m_i) * (at(s_i) - m_i);
          });
        squares.finish(d, r);
        for (A& value : r) value = rstd_of(value, static_cast<A>(eps));
        for (int64_t i = 0; i < n; ++i)
          Row<T>::normalize(s[i], m[i], r[i], w, b, d, out + (row + i) * d);
        if (means != nullptr) std::copy_n(m, n, means + row);
        std::copy_n(r, n, rstds + row);
      }
    });
  });
}

void layer_norm_backward(Cpu, const Tensor& s, const Tensor& weight, const Tensor& mean,
                         const Tensor& rstd, const Tensor& dy, const Tensor& dsum, Tensor& ds,
                         Tensor& dweight, Tensor& dbias, Tensor& /*column_sums*/) {
  dispatch_float(s.dtype(), [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    const int64_t d = weight.numel(), rows = rstd.numel();
    const int64_t grain = rows_per_partial(rows, d), chunks = (rows + grain - 1) / grain;
    const T *const in = s.data<T>(), *const grad = dy.data<T>();
    const T* const add = dsum.defined() ? dsum.data<T>() : nullptr;
    const A* const w = weight.data<A>();
    const A* const means = mean.defined() ? mean.data<A>() : nullptr;
    const A* const rstds = rstd.data<A>();
    T* const out = ds.data<T>();
    Tensor partial = Tensor::empty({chunks, 2, d}, dtype_of<A>);
    A* const partials = partial.data<A>();
    for_chunks_of_rows<T>(rows, grain, d, [&](auto at_once, int64_t begin, int64_t end) {
      constexpr int64_t kAtOnce = at_once();
      A* const dw = partials + begin / grain * 2 * d;
      std::fill_n(dw, 2 * d, A(0));
      std::vector<A> room(static_cast<size_t>(2 * kAtOnce * d));
      const auto gradients_of_group = [&](int64_t row, int64_t n_row) {
        A *const n = room.data(), *const g = n + kAtOnce * d;
        RowMeans<A, kAtOnce> rows_g, rows_gn;
        for (int64_t i = 0; i < n_row; ++i) {
          const int64_t first = (row + i) * d;
          A *const n_i = n + i * d, *const g_i = g + i * d;
          Row<T>::gradient_terms(in + first, grad + first, w,
                                 means != nullptr ? means[row + i] : A{0}, rstds[row + i], d, n_i,
                                 g_i);
          if (means != nullptr) rows_g.set(i, d, [&](auto at) { return at(g_i); });
          rows_gn.set(i, d, [&](auto at) { return at(g_i) * at(n_i); });
        }
        A mean_g[kAtOnce] = {}, mean_gn[kAtOnce];
        if (means != nullptr) rows_g.finish(d, mean_g);
        rows_gn.finish(d, mean_gn);
        for (int64_t i = 0; i < n_row; ++i) {
          const int64_t first = (row + i) * d;
          Row<T>::backward(n + i * d, g + i * d, mean_g[i], mean_gn[i], rstds[row + i],
                           add != nullptr ? add + first : nullptr, d, out + first);
        }
      };
      constexpr int64_t kRows = 16;  // whose elements stay in the first-level cache, or the second
      for (int64_t row = begin; row < end; row += kRows) {
        const int64_t last = std::min(end, row + kRows);
        for (int64_t r = row; r < last; r += kAtOnce)
          gradients_of_group(r, std::min(kAtOnce, last - r));
        Row<T>::add_to_weights(in + row * d, grad + row * d,
                               means != nullptr ? means + row : nullptr, rstds + row, last - row, d,
                               dw, dw + d);
      }
    });
    A *const dw = dweight.data<A>(), *const db = dbias.data<A>();
    std::fill_n(dw, d, A(0));
    std::fill_n(db, d, A(0));
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      const A* const from = partials + chunk * 2 * d;
      for (int64_t i = 0; i < d; ++i) dw[i] += from[i];
      for (int64_t i = 0; i < d; ++i) db[i] += from[d + i];
    }
  });
}

}  // namespace farfield
