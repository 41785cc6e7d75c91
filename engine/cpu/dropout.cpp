#include "engine/kernels/dropout.h"

#include <algorithm>

#include "engine/base/parallel.h"

namespace farfield {
namespace {

constexpr int64_t kGrain = int64_t{1} << 15;  // elements of a chunk
constexpr int64_t kBlock = 512;               // whose mask is made at a time
constexpr int kGroup = DropoutMask::kGroup;
static_assert(kGrain % kBlock == 0 && kBlock % kGroup == 0);

// factors[i] = what element begin + i is multiplied by; 0: it becomes 0
template <class A>
void make_factors(const DropoutMask& mask, int64_t begin, int64_t n, A* factors) {
  const A scale = static_cast<A>(mask.scale());
  for (int64_t i = 0; i < n; i += kGroup) {
    const PhiloxBlock bits = mask.bits((begin + i) / kGroup);
    for (int j = 0; j < kGroup; ++j) factors[i + j] = mask.keeps(bits, j) ? scale : A(0);
  }
}

// The mask's value for x, whatever x is there: not the NaN of 0 * inf.
template <class T, class A>
T masked(T x, A factor) {
  const A value = static_cast<A>(x) * factor;
  return static_cast<T>(factor == 0 ? A(0) : value);
}

// Rows of some columns of an array: element (r, c) is number r n_column + first_column + c of it.
template <class T>
void drop_columns(const DropoutMask& mask, int64_t n_row, int64_t width, const T* from, T* to) {
  using A = Accumulate<T>;
  const A scale = static_cast<A>(mask.scale());
  parallel_chunks(n_row, std::max<int64_t>(1, kGrain / width), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t first = row * mask.n_column + mask.first_column;
      const T* const in = from + row * width;
      T* const out = to + row * width;
      for (int64_t i = 0; i < width;) {
        const PhiloxBlock bits = mask.bits((first + i) / kGroup);
        for (auto j = static_cast<int>((first + i) % kGroup); j < kGroup && i < width; ++j, ++i)
          out[i] = masked(in[i], mask.keeps(bits, j) ? scale : A(0));
      }
    }
  });
}

}  // namespace

void dropout(Cpu, const DropoutMask& mask, const Tensor& x, Tensor& y) {
  dispatch_float(x.dtype(), [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    const T* const from = x.data<T>();
    T* const to = y.data<T>();
    if (mask.n_column > 0) {
      const int64_t width = x.dim(-1);
      if (width > 0) drop_columns(mask, x.numel() / width, width, from, to);
      return;
    }
    parallel_chunks(x.numel(), kGrain, [&](int64_t chunk_begin, int64_t chunk_end) {
      A factors[kBlock];
      for (int64_t begin = chunk_begin; begin < chunk_end; begin += kBlock) {
        const int64_t n = std::min(kBlock, chunk_end - begin);
        make_factors(mask, begin, n, factors);
        const T* __restrict in = from + begin;
        T* __restrict out = to + begin;
        for (int64_t i = 0; i < n; ++i) out[i] = masked(in[i], factors[i]);
      }
    });
  });
}

}  // namespace farfield
