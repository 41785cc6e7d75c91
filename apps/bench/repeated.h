#pragma once

#include "apps/analysis/timing.h"
#include "engine/device_info.h"

namespace farfield::bench {

/// Seconds that work() takes: on a card the mean of ten calls in a row. The start of a call takes a
/// good share of a short call, and a row of calls hides it.
template <class Work>
double seconds_each(const Device& device, const Work& work) {
  const int n = device.kind == Device::Kind::cpu ? 1 : 10;
  synchronize(device);
  return analysis::seconds([&] {
           for (int i = 0; i < n; ++i) work();
           synchronize(device);
         }) /
         n;
}

}  // namespace farfield::bench
