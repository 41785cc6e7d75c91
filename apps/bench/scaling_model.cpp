#include "apps/bench/scaling_model.h"

#include <algorithm>
#include <cmath>

namespace farfield::bench {
namespace {

constexpr double kBackwardShare = 2.0 / 3;
constexpr double kBytes = 4;  // of a gradient and of a weight

// Each of P processes gets its part of the sum of n bytes, or gives it to the others.
double pass_s(double n_process, double n_bytes, double n_message, const Link& link,
              Pattern pattern) {
  if (n_process <= 1) return 0;
  const double hops = pattern == Pattern::tree ? std::log2(n_process) : n_process - 1;
  return n_message * hops * link.latency_s +
         (n_process - 1) / n_process * n_bytes / link.bytes_per_s;
}

}  // namespace

SharedTime predict(const SharedStep& step, int64_t n_process, const Cluster& cluster,
                   Pattern pattern) {
  const auto p = static_cast<double>(n_process);
  const double in_node = std::min(p, static_cast<double>(cluster.per_node));
  const double n_bytes = kBytes * step.n_parameter;
  SharedTime time;
  time.compute = step.compute_s / p;
  time.update = step.update_s / p;
  time.reduce = pass_s(in_node, n_bytes, step.n_bucket, cluster.inside, pattern) +
                pass_s(p / in_node, n_bytes / in_node, step.n_bucket, cluster.between, pattern);
  time.gather = time.reduce;
  time.exposed = time.reduce;
  if (step.overlaps) {
    const double hidden = kBackwardShare * time.compute * (1 - 1 / step.n_bucket);
    time.exposed = std::max(time.reduce / step.n_bucket, time.reduce - hidden);
  }
  return time;
}

}  // namespace farfield::bench
