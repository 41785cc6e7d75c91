#include "engine/kernels/reduce.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/cpu/sum_of.h"
#include "engine/kernels/pointwise.h"

namespace farfield {
namespace {

constexpr int64_t kGrain = int64_t{1} << 15;  // elements of a chunk

// Sum of x[0 .. n): blocks in the accumulation type on vector registers, the blocks in double.
template <class T>
double sum_run(const T* x, int64_t n) {
  constexpr int64_t kBlock = 1024;  // short: equal terms round the same way every time
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const T* const block = x + begin;
    total += static_cast<double>(
        sum_of<Accumulate<T>>(std::min(kBlock, n - begin), [&](auto at) { return at(block); }));
  }
  return total;
}

// Sums of rows next to each other in memory.
template <class T>
void sum_rows(const T* x, int64_t rows, int64_t n, T* y) {
  if (n <= kGrain) {
    parallel_chunks(rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, n)),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t i = begin; i < end; ++i)
                        y[i] = static_cast<T>(sum_run(x + i * n, n));
                    });
    return;
  }
  const int64_t chunks = (n + kGrain - 1) / kGrain;
  std::vector<double> partial(static_cast<size_t>(rows * chunks));
  parallel_for(rows * chunks, [&](int64_t i) {
    const int64_t begin = i % chunks * kGrain;
    partial[static_cast<size_t>(i)] =
        sum_run(x + i / chunks * n + begin, std::min(kGrain, n - begin));
  });
  for (int64_t row = 0; row < rows; ++row) {
    double total = 0;
    for (int64_t i = 0; i < chunks; ++i) total += partial[static_cast<size_t>(row * chunks + i)];
    y[row] = static_cast<T>(total);
  }
}

// Sums over the middle of [outer, n, inner]: pieces of n, each into its own row of partial sums.
template <class T>
void sum_columns(const T* x, int64_t outer, int64_t n, int64_t inner, T* y) {
  using A = Accumulate<T>;
  const int64_t piece = std::clamp<int64_t>(kGrain / inner, 16, 1024);
  const int64_t pieces = std::max<int64_t>(1, (n + piece - 1) / piece);
  std::vector<A> partial(static_cast<size_t>(outer * pieces * inner));
  parallel_for(outer * pieces, [&](int64_t index) {
    const int64_t begin = index % pieces * piece, end = std::min(n, begin + piece);
    A* const total = partial.data() + index * inner;
    for (int64_t j = begin; j < end; ++j) {
      const T* const row = x + (index / pieces * n + j) * inner;
      for (int64_t i = 0; i < inner; ++i) total[i] += static_cast<A>(row[i]);
    }
  });
  parallel_chunks(outer, std::max<int64_t>(1, kGrain / (pieces * inner)),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t o = begin; o < end; ++o) {
                      A* const total = partial.data() + o * pieces * inner;
                      for (int64_t p = 1; p < pieces; ++p)
                        for (int64_t i = 0; i < inner; ++i) total[i] += total[p * inner + i];
                      for (int64_t i = 0; i < inner; ++i)
                        y[o * inner + i] = static_cast<T>(total[i]);
                    }
                  });
}

}  // namespace

void sum_forward(Cpu, const Tensor& x, int64_t outer, int64_t n, int64_t inner, Tensor& y) {
  dispatch_float(x.dtype(), [&](auto type) {
    using T = decltype(type);
    if (y.numel() == 0) return;
    if (inner == 1)
      sum_rows(x.data<T>(), outer, n, y.data<T>());
    else
      sum_columns(x.data<T>(), outer, n, inner, y.data<T>());
  });
}

void max_forward(Cpu, const Tensor& x, int64_t outer, int64_t n, int64_t inner, Tensor& y,
                 Tensor& argmax) {
  dispatch_float(x.dtype(), [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    const T* const from = x.data<T>();
    T* const to = y.data<T>();
    int32_t* const at = argmax.data<int32_t>();
    parallel_chunks(outer, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, n * inner)),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t o = begin; o < end; ++o) {
                        for (int64_t i = 0; i < inner; ++i) {
                          const T* const column = from + o * n * inner + i;
                          A best = static_cast<A>(column[0]);
                          int64_t best_at = 0;
                          for (int64_t j = 1; j < n && best == best; ++j) {
                            const A value = static_cast<A>(column[j * inner]);
                            if (value > best || value != value) {
                              best = value;
                              best_at = j;
                            }
                          }
                          to[o * inner + i] = column[best_at * inner];
                          at[o * inner + i] = static_cast<int32_t>(best_at);
                        }
                      }
                    });
  });
}

void max_backward(Cpu, const Tensor& argmax, const Tensor& dy, int64_t outer, int64_t n,
                  int64_t inner, Tensor& dx) {
  fill(Cpu{}, 0, dx);
  dispatch_float(dy.dtype(), [&](auto type) {
    using T = decltype(type);
    const T* const from = dy.data<T>();
    const int32_t* const at = argmax.data<int32_t>();
    T* const to = dx.data<T>();
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i)
        to[(o * n + at[o * inner + i]) * inner + i] = from[o * inner + i];
  });
}

bool is_finite(Cpu, const Tensor& x) {
  return dispatch_float(x.dtype(), [&](auto type) {
    using T = decltype(type);
    const T* const data = x.data<T>();
    std::atomic<bool> finite{true};
    parallel_chunks(x.numel(), kGrain, [&](int64_t begin, int64_t end) {
      Accumulate<T> product = 0;  // 0 * x is NaN when x is NaN or infinite
      for (int64_t i = begin; i < end; ++i) product += 0 * static_cast<Accumulate<T>>(data[i]);
      if (!(product == 0)) finite = false;
    });
    return finite.load();
  });
}

}  // namespace farfield
