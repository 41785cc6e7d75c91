#include "engine/kernels/reduce.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "engine/base/parallel.h"

namespace farfield {
namespace {

constexpr int64_t kGrain = int64_t{1} << 15;  // elements of a chunk

}  // namespace

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

double sum_squares(Cpu, const Tensor& x) {
  return dispatch_float(x.dtype(), [&](auto type) {
    using T = decltype(type);
    const T* const data = x.data<T>();
    std::vector<double> partial(static_cast<size_t>((x.numel() + kGrain - 1) / kGrain));
    parallel_chunks(x.numel(), kGrain, [&](int64_t begin, int64_t end) {
      double lanes[8] = {};  // a fixed order that the compiler can keep in registers
      for (int64_t i = begin; i < end; ++i) {
        const auto value = static_cast<double>(data[i]);
        lanes[(i - begin) & 7] += value * value;
      }
      double total = 0;
      for (const double lane : lanes) total += lane;
      partial[static_cast<size_t>(begin / kGrain)] = total;
    });
    double total = 0;
    for (const double value : partial) total += value;
    return total;
  });
}

}  // namespace farfield
