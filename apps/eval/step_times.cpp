#include "apps/eval/step_times.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace farfield::eval {
namespace {

constexpr double kWorstResolution = 0.01;  // as a share of the timed interval

}  // namespace

double resolution_of(const std::function<double()>& now_s) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 5; ++i) {
    const double before = now_s();
    double after = before;
    while (after == before) after = now_s();
    least = std::min(least, after - before);
  }
  return least;
}

StepClock machine_clock() {
  const auto now_s = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  return {now_s, resolution_of(now_s)};
}

StepTimes time_steps(const StepClock& clock, int64_t n, const std::function<bool()>& step) {
  StepTimes times;
  while (times.n_step() < n) {
    const double begin_s = clock.now_s();
    for (int64_t i = 0; i < times.block; ++i)
      if (!step()) return times;
    const double block_s = clock.now_s() - begin_s;
    if (clock.resolution_s > kWorstResolution * block_s) {
      times.step_s = {};
      times.block *= 2;
      continue;
    }
    times.step_s.add(block_s / static_cast<double>(times.block));
  }
  times.is_whole = true;
  return times;
}

}  // namespace farfield::eval
