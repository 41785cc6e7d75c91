#include "apps/bench/copy_rate.h"

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

}  // namespace farfield::bench
