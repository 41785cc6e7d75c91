#include "engine/cpu/gemm/thin.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "engine/cpu/gemm/panels.h"
#include "engine/cpu/widened.h"
#include "engine/dtype.h"

namespace farfield {
namespace {

// Columns whose sums stay in the first cache.
constexpr int64_t kColumns = 256;

// Where the elements of a result go: `step` apart.
template <class A, class Out>
struct Result {
  Out* c;
  int64_t step;
  bool accumulate;

  void operator()(int64_t i, A sum) const {
    Out& to = c[i * step];
    to = static_cast<Out>(accumulate ? static_cast<A>(to) + sum : sum);
  }
};

// A vector, `step` elements apart, in the type of sums; the caller's own where it is so already. A
// copy of a usual length is on the stack: threads would wait for each other at the allocator.
template <class In, class A>
class Vector {
 public:
  Vector(const In* from, int64_t step, int64_t size)
      : longer_(size > kUsual && !is_usable(step) ? size : 0) {
    if constexpr (std::is_same_v<In, A>) {
      data_ = from;
      if (step == 1) return;
    }
    A* const copy = size > kUsual ? longer_.data() : usual_;
    for (int64_t i = 0; i < size; ++i) copy[i] = static_cast<A>(from[i * step]);
    data_ = copy;
  }
  const A* data() const { return data_; }

 private:
  static constexpr int64_t kUsual = 4096;
  static bool is_usable(int64_t step) { return std::is_same_v<In, A> && step == 1; }

  A usual_[kUsual];
  Buffer<A> longer_;
  const A* data_ = nullptr;
};

#ifdef __AVX__
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif
typedef float Floats __attribute__((vector_size(kVectorBytes)));
typedef double Doubles __attribute__((vector_size(kVectorBytes)));

template <class V, class T>
V bits_at(const T* from) {
  V x;
  std::memcpy(&x, from, sizeof x);
  return x;
}
Floats load(const float* from) { return bits_at<Floats>(from); }
Doubles load(const double* from) { return bits_at<Doubles>(from); }
Floats load(const BFloat16* from) { return widened<Floats>(from); }

// Of `n_row` rows, `apart` rows from one to the next, so that each load of the vector serves them
// all and no sum waits for the one before it. A row's sum does not depend on the others.
template <int n_row, class In, class A, class Out>
void times_some_rows(const In* matrix, int64_t ld, int64_t first, int64_t apart, const A* x,
                     int64_t k, const Result<A, Out>& result) {
  using V = decltype(load(x));
  constexpr int64_t kLanes = sizeof(V) / sizeof(A);
  constexpr int64_t kAhead = 512 / static_cast<int64_t>(sizeof(In));  // elements
  const In* const row = matrix + first * ld;
  const int64_t step = apart * ld;
  V even[n_row] = {}, odd[n_row] = {};
  int64_t l = 0;
  for (; l + 2 * kLanes <= k; l += 2 * kLanes) {
    const V x0 = load(x + l), x1 = load(x + l + kLanes);
    for (int r = 0; r < n_row; ++r) {
      __builtin_prefetch(row + r * step + l + kAhead);
      even[r] += load(row + r * step + l) * x0;
      odd[r] += load(row + r * step + l + kLanes) * x1;
    }
  }
  for (int r = 0; r < n_row; ++r) {
    even[r] += odd[r];
    A lanes[kLanes], rest = 0;
    std::memcpy(lanes, &even[r], sizeof lanes);
    for (int64_t i = l; i < k; ++i) rest += static_cast<A>(row[r * step + i]) * x[i];
    for (int64_t half = kLanes / 2; half > 0; half /= 2)
      for (int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
    result(first + r * apart, lanes[0] + rest);
  }
}

// n sums of k products, of the vector with each row of a matrix, read from four places at the same
// time: each is a stream of its own to the hardware's prefetcher.
template <class In, class A, class Out>
void times_rows(const In* matrix, int64_t ld, int64_t n, const A* x, int64_t k,
                const Result<A, Out>& result) {
  constexpr int kPlaces = 4;
  const int64_t part = n / kPlaces;
  for (int64_t j = 0; j < part; ++j) times_some_rows<kPlaces>(matrix, ld, j, part, x, k, result);
  for (int64_t j = kPlaces * part; j < n; ++j) times_some_rows<1>(matrix, ld, j, 1, x, k, result);
}

// The same with each column, four rows at a time.
template <class In, class A, class Out>
void times_columns(const In* matrix, int64_t ld, int64_t n, const A* x, int64_t k,
                   const Result<A, Out>& result) {
  for (int64_t begin = 0; begin < n; begin += kColumns) {
    const int64_t width = std::min(kColumns, n - begin);
    A sums[kColumns] = {};
    const In* row = matrix + begin;
    int64_t l = 0;
    for (; l + 4 <= k; l += 4, row += 4 * ld) {
      const In *const r0 = row, *const r1 = r0 + ld, *const r2 = r1 + ld, *const r3 = r2 + ld;
      const A x0 = x[l], x1 = x[l + 1], x2 = x[l + 2], x3 = x[l + 3];
      for (int64_t j = 0; j < width; ++j)
        sums[j] += (static_cast<A>(r0[j]) * x0 + static_cast<A>(r1[j]) * x1) +
                   (static_cast<A>(r2[j]) * x2 + static_cast<A>(r3[j]) * x3);
    }
    for (; l < k; ++l, row += ld)
      for (int64_t j = 0; j < width; ++j) sums[j] += static_cast<A>(row[j]) * x[l];
    for (int64_t j = 0; j < width; ++j) result(begin + j, sums[j]);
  }
}

// Every element of a column with every one of a row.
template <class In, class A, class Out>
void outer(const Gemm& p, const In* a, const In* b, Out* c) {
  const Vector<In, A> row(b, p.transpose_b ? p.ldb : 1, p.n);
  for (int64_t i = 0; i < p.m; ++i) {
    const A factor = static_cast<A>(a[p.transpose_a ? i : i * p.lda]);
    const Result<A, Out> result{c + i * p.ldc, 1, p.accumulate};
    for (int64_t begin = 0; begin < p.n; begin += kColumns) {
      // Through a local array: c may not be told from b, and the loop would not become vector code.
      const int64_t width = std::min(kColumns, p.n - begin);
      A products[kColumns];
      for (int64_t j = 0; j < width; ++j) products[j] = factor * row.data()[begin + j];
      for (int64_t j = 0; j < width; ++j) result(begin + j, products[j]);
    }
  }
}

template <class In, class Out>
void multiply(const Gemm& p) {
  using A = Accumulate<In>;
  const auto* const a = static_cast<const In*>(p.a);
  const auto* const b = static_cast<const In*>(p.b);
  auto* const c = static_cast<Out*>(p.c);
  if (p.m > 1 && p.n > 1) return outer<In, A>(p, a, b, c);

  const bool one_row = p.m == 1;  // otherwise C^T = B^T A^T has one
  const Vector<In, A> x(one_row ? a : b,
                        one_row ? (p.transpose_a ? p.lda : 1) : (p.transpose_b ? 1 : p.ldb), p.k);
  const Result<A, Out> result{c, one_row ? 1 : p.ldc, p.accumulate};
  const bool rows = one_row ? p.transpose_b : !p.transpose_a;
  (rows ? times_rows<In, A, Out>
        : times_columns<In, A, Out>)(one_row ? b : a, one_row ? p.ldb : p.lda, one_row ? p.n : p.m,
                                     x.data(), p.k, result);
}

}  // namespace

void thin_product(const Gemm& p) {
  dispatch_float(p.in, [&](auto in) {
    using In = decltype(in);
    if (p.out == p.in)
      multiply<In, In>(p);
    else
      multiply<In, Accumulate<In>>(p);
  });
}

}  // namespace farfield
