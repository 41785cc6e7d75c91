#include "apps/train/peak.h"

#include <algorithm>

#include "apps/analysis/timing.h"
#include "engine/base/parallel.h"

namespace farfield::train {
namespace {

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif
// As wide as a vector register, so that the loop below holds its sums in registers.
using Vector __attribute__((vector_size(kLanes * sizeof(float)))) = float;

// Twelve independent chains: more than latency times units of any processor of today.
constexpr int kChains = 12;
constexpr int64_t kRounds = 1'000'000;

float run_chains(float start) {
  Vector sum[kChains];
  for (int c = 0; c < kChains; ++c) sum[c] = Vector{} + (start + static_cast<float>(c));
  const Vector factor = Vector{} + 0.999f, term = Vector{} + start;
  for (int64_t i = 0; i < kRounds; ++i)
    for (int c = 0; c < kChains; ++c) sum[c] = sum[c] * factor + term;
  float total = 0;
  for (const Vector& chain : sum)
    for (int lane = 0; lane < kLanes; ++lane) total += chain[lane];
  return total;
}

}  // namespace

double fma_peak_gflops() {
  const int n = thread_count();
  double best = 0;
  for (int attempt = 0; attempt < 5; ++attempt) {
    volatile float sink = 0;
    const double time = analysis::seconds([&] {
      parallel_for(n, [&](int64_t i) {
        const float total = run_chains(static_cast<float>(i) + 1);
        if (total == 0) sink = total;  // never: keeps the loop
      });
    });
    best = std::max(best, 2.0 * kLanes * kChains * kRounds * n / time * 1e-9);
  }
  return best;
}

}  // namespace farfield::train
