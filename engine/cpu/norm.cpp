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

  // ds of one row. n and g are room for d values each. With n = (s - mean) rstd and g = dy weight:
  // ds = rstd (g - mean(g) - n mean(g n)); without a mean in n, without mean(g).
  static void backward(const T* __restrict s, const T* __restrict dy, const A* __restrict weight,
                       bool is_centered, A mean, A rstd, const T* __restrict dsum, int64_t d,
                       A* __restrict n, A* __restrict g, T* __restrict ds) {
    for (int64_t i = 0; i < d; ++i) {
      n[i] = normalized(static_cast<A>(s[i]), mean, rstd);
      g[i] = static_cast<A>(dy[i]) * weight[i];
    }
    const A mean_g =
        is_centered ? sum_of<A>(d, [&](auto at) { return at(g); }) / static_cast<A>(d) : A{0};
    const A mean_gn = sum_of<A>(d, [&](auto at) { return at(g) * at(n); }) / static_cast<A>(d);
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
    parallel_chunks(rows, std::max<int64_t>(1, kGrain / d), [&](int64_t begin, int64_t end) {
      std::vector<A> buffer(static_cast<size_t>(std::is_same_v<T, A> ? 0 : d));
      for (int64_t row = begin; row < end; ++row) {
        const int64_t first = row * d;
        const A* const s = Row<T>::load(in + first, add != nullptr ? add + first : nullptr, d,
                                        add != nullptr ? stored + first : nullptr, buffer.data());
        const A m = means != nullptr
                        ? sum_of<A>(d, [&](auto at) { return at(s); }) / static_cast<A>(d)
                        : A{0};
        const A variance =
            sum_of<A>(d, [&](auto at) { return (at(s) - m) * (at(s) - m); }) / static_cast<A>(d);
        const A r = rstd_of(variance, static_cast<A>(eps));
        Row<T>::normalize(s, m, r, w, b, d, out + first);
        if (means != nullptr) means[row] = m;
        rstds[row] = r;
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
    parallel_chunks(rows, grain, [&](int64_t begin, int64_t end) {
      A* const dw = partials + begin / grain * 2 * d;
      std::fill_n(dw, 2 * d, A(0));
      std::vector<A> buffer(static_cast<size_t>(2 * d));
      constexpr int64_t kRows = 16;  // whose elements stay in the first-level cache, or the second
      for (int64_t row = begin; row < end; row += kRows) {
        const int64_t last = std::min(end, row + kRows);
        for (int64_t r = row; r < last; ++r)
          Row<T>::backward(in + r * d, grad + r * d, w, means != nullptr,
                           means != nullptr ? means[r] : A{0}, rstds[r],
                           add != nullptr ? add + r * d : nullptr, d, buffer.data(),
                           buffer.data() + d, out + r * d);
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
