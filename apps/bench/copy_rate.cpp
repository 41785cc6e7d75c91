#include "apps/bench/copy_rate.h"

#include <algorithm>

#include "apps/analysis/timing.h"
#include "engine/device_info.h"

namespace farfield::bench {

double copy_rate(const Tensor& x) {
  constexpr int kTimes = 5;
  // Both were written, so that no page of them is new, or one page of zeros for all.
  const Tensor from = x.clone();
  Tensor to = x.clone();
  synchronize(x.device());
  const double time = analysis::seconds([&] {
    for (int i = 0; i < kTimes; ++i) to.assign(from);
    synchronize(x.device());
  });
  return 2 * kTimes * static_cast<double>(x.size_bytes()) / time;
}

double copy_rate(int64_t n_byte, const Device& device) {
  const int64_t n_float = std::clamp<int64_t>(n_byte, 4, kBeyondCaches) / 4;
  return copy_rate(Tensor::zeros({n_float}, DType::f32, device));
}

}  // namespace farfield::bench
