#include "engine/kernels/cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/cpu/convert.h"
#include "engine/cpu/lanes.h"
#include "engine/kernels/pointwise.h"
#include "engine/vector_math.h"

namespace farfield {
namespace {

constexpr int64_t kPartials = 16;  // partial results that stay in vector registers

template <class A>
A row_max(const A* x, int64_t n) {
  A partials[kPartials];
  std::fill(partials, partials + kPartials, x[0]);
  int64_t i = 0;
  for (; i + kPartials <= n; i += kPartials)
    for (int64_t l = 0; l < kPartials; ++l)
      partials[l] = x[i + l] > partials[l] ? x[i + l] : partials[l];
  A result = *std::max_element(partials, partials + kPartials);
  for (; i < n; ++i) result = std::max(result, x[i]);
  return result;
}

// Sum of e^(x - shift), in a fixed order. A NaN or an infinity in x makes it NaN. Writes its terms
// to `terms`, which may be x, unless that is null.
template <class A>
A sum_exp(const A* x, int64_t n, A shift, A* terms = nullptr) {
  A partials[kPartials] = {};
  int64_t i = 0;
  for (; i + kPartials <= n; i += kPartials) {
    A e[kPartials];
    for (int64_t l = 0; l < kPartials; ++l) e[l] = fast_exp(x[i + l] - shift);
    for (int64_t l = 0; l < kPartials; ++l) partials[l] += e[l];
    if (terms != nullptr) std::copy_n(e, kPartials, terms + i);
  }
  A result = 0;
  for (const A partial : partials) result += partial;
  for (; i < n; ++i) {
    const A e = fast_exp(x[i] - shift);
    result += e;
    if (terms != nullptr) terms[i] = e;
  }
  return result;
}

// scale softmax(x) of a row; to may be x.
template <class T, class A>
void scaled_softmax(const A* x, int64_t n, A shift, A factor, T* to) {
  constexpr int64_t kBlock = 256;
  A local[kBlock];  // output and input may be the same
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t size = std::min(kBlock, n - begin);
    for (int64_t i = 0; i < size; ++i) local[i] = factor * fast_exp(x[begin + i] - shift);
    for (int64_t i = 0; i < size; ++i) to[begin + i] = static_cast<T>(local[i]);
  }
}

void check_targets(const Tensor& targets, int64_t n) {
  const int32_t* const target = targets.data<int32_t>();
  for (int64_t i = 0; i < targets.numel(); ++i)
    require<ShapeError>(target[i] >= 0 && target[i] < n, "cross_entropy",
                        "expected targets from 0 to ", n - 1, ", got ", target[i]);
}

// f(acc, type): the types of logits that are not rounded and of their gradient, which may be
// undefined.
template <class F>
void dispatch_types(const Tensor& logits, const Tensor& dlogits, const F& f) {
  if (logits.dtype() == DType::f64)
    f(double{}, double{});
  else if (dlogits.defined() && dlogits.dtype() == DType::bf16)
    f(float{}, BFloat16{});
  else
    f(float{}, float{});
}

// to = factor x, rounded; to may be x.
template <class T, class A>
void scale_row(const A* x, int64_t n, A factor, T* to) {
  constexpr int64_t kWidth = lanes::kLanes<A>;
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth)
    lanes::store_rounded(to + i, lanes::load(x + i) * lanes::splat(factor));
  for (; i < n; ++i) to[i] = static_cast<T>(factor * x[i]);
}

// For one row of logits: its nll and, unless dx is null, its gradient. terms: working memory of n
// values, which may be dx or the logits.
template <class A, class T>
A nll_of_row(const A* x, int64_t n, int32_t target, A factor, T* dx, A* terms) {
  const A shift = row_max(x, n), x_target = x[target];
  const A sum = sum_exp(x, n, shift, dx == nullptr ? nullptr : terms);
  const A nll = std::log(sum) + (shift - x_target);
  if (dx == nullptr) return nll;
  const A share = factor / sum;
  const A at_target = share * terms[target];
  scale_row(terms, n, share, dx);
  dx[target] = static_cast<T>(at_target - factor);
  return nll;
}

}  // namespace

void cross_entropy_rows(Cpu, const Tensor& logits, const Tensor& targets, double scale, Tensor& nll,
                        Tensor& dlogits) {
  const int64_t n_rows = logits.dim(0), n = logits.dim(1);
  const int32_t* const target = targets.data<int32_t>();
  check_targets(targets, n);
  if (logits.dtype() == DType::bf16) {  // widened a row at a time
    const BFloat16* const from = logits.data<BFloat16>();
    BFloat16* const to = dlogits.defined() ? dlogits.data<BFloat16>() : nullptr;
    float* const to_nll = nll.data<float>();
    parallel_chunks(n_rows, 8, [&](int64_t begin, int64_t end) {
      std::vector<float> x(static_cast<size_t>(n));
      for (int64_t row = begin; row < end; ++row) {
        convert(from + row * n, n, x.data());
        to_nll[row] = nll_of_row(x.data(), n, target[row], static_cast<float>(scale),
                                 to == nullptr ? to : to + row * n, x.data());
      }
    });
    return;
  }
  dispatch_types(logits, dlogits, [&](auto acc, auto type) {
    using A = decltype(acc);
    using T = decltype(type);
    const A* const from = logits.data<A>();
    A* const to_nll = nll.data<A>();
    T* const to = dlogits.defined() ? dlogits.data<T>() : nullptr;
    parallel_chunks(n_rows, 8, [&](int64_t begin, int64_t end) {
      constexpr bool kInPlace = std::is_same_v<T, A>;
      std::vector<A> buffer(static_cast<size_t>(kInPlace ? 0 : n));
      for (int64_t row = begin; row < end; ++row) {
        T* const dx = to == nullptr ? to : to + row * n;
        A* terms = buffer.data();
        if constexpr (kInPlace) terms = dx;
        to_nll[row] = nll_of_row(from + row * n, n, target[row], static_cast<A>(scale), dx, terms);
      }
    });
  });
}

void cross_entropy_part(Cpu, const Tensor& logits, int64_t first, int64_t vocab_size,
                        const Tensor& targets, Tensor& log_sum, Tensor& at_target) {
  const int64_t n_rows = logits.dim(0), n = logits.dim(1);
  const int32_t* const target = targets.data<int32_t>();
  check_targets(targets, vocab_size);
  dispatch_types(logits, {}, [&](auto acc, auto) {
    using A = decltype(acc);
    const A* const from = logits.data<A>();
    A *const to_sum = log_sum.data<A>(), *const to_target = at_target.data<A>();
    parallel_chunks(n_rows, 8, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const A* const x = from + row * n;
        const A shift = row_max(x, n);
        to_sum[row] = std::log(sum_exp(x, n, shift)) + shift;
        const int64_t own = target[row] - first;
        to_target[row] = own >= 0 && own < n ? x[own] : A(0);
      }
    });
  });
}

void cross_entropy_part_backward(Cpu, const Tensor& logits, int64_t first, const Tensor& targets,
                                 const Tensor& log_sum, double scale, Tensor& dlogits) {
  const int64_t n_rows = logits.dim(0), n = logits.dim(1);
  const int32_t* const target = targets.data<int32_t>();
  dispatch_types(logits, dlogits, [&](auto acc, auto type) {
    using A = decltype(acc);
    using T = decltype(type);
    const A *const from = logits.data<A>(), *const shift = log_sum.data<A>();
    T* const to = dlogits.data<T>();
    parallel_chunks(n_rows, 8, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const A* const x = from + row * n;
        T* const dx = to + row * n;
        const A factor = static_cast<A>(scale);
        const int64_t own = target[row] - first;
        const bool has_target = own >= 0 && own < n;
        const A at_target = has_target ? factor * fast_exp(x[own] - shift[row]) - factor : A(0);
        scaled_softmax(x, n, shift[row], factor, dx);
        if (has_target) dx[own] = static_cast<T>(at_target);
      }
    });
  });
}

void mean_nll(Cpu device, const Tensor& nll, Tensor& loss) {
  double sum = 0;
  for (const double value : nll.to_vector()) sum += value;
  fill(device, sum / static_cast<double>(nll.numel()), loss);
}

}  // namespace farfield
