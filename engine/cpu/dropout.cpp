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

}  // namespace

void dropout(Cpu, const DropoutMask& mask, const Tensor& x, Tensor& y) {
  dispatch_float(x.dtype(), [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    const T* const from = x.data<T>();
    T* const to = y.data<T>();
    parallel_chunks(x.numel(), kGrain, [&](int64_t chunk_begin, int64_t chunk_end) {
      A factors[kBlock];
      for (int64_t begin = chunk_begin; begin < chunk_end; begin += kBlock) {
        const int64_t n = std::min(kBlock, chunk_end - begin);
        make_factors(mask, begin, n, factors);
        const T* __restrict in = from + begin;
        T* __restrict out = to + begin;
        for (int64_t i = 0; i < n; ++i) {
          const A value = static_cast<A>(in[i]) * factors[i];
          out[i] = static_cast<T>(factors[i] == 0 ? A(0) : value);  // not the NaN of 0 * inf
        }
      }
    });
  });
}

}  // namespace farfield
