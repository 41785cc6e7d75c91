#include "apps/bench/copy_rate.h"

#include "apps/analysis/timing.h"
#include "engine/device.h"

namespace farfield::bench {

double copy_rate(const Tensor& x) {
  constexpr int kTimes = 5;
  synchronize(x.device());
  const double time = analysis::seconds([&] {
    for (int i = 0; i < kTimes; ++i) x.clone();
    synchronize(x.device());
  });
  return 2 * kTimes * static_cast<double>(x.size_bytes()) / time;
}

}  // namespace farfield::bench
