#include "apps/train/peak.h"

#include <algorithm>

#include "apps/analysis/timing.h"
#include "engine/base/parallel.h"
#if defined(__AVX512BF16__)
#include <immintrin.h>
#endif

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

// Independent chains, with room for their operands in the registers: more than latency times units,
// which is 12 for VDPBF16PS on a Zen 5 and 16 for FMA on some processors of arm64, 8 with AVX2.
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kChains = 24;
#else
constexpr int kChains = 12;
#endif
constexpr int64_t kRounds = 12'000'000 / kChains;

// A step of each chain: step(sum).
template <class Step>
float run_chains(float start, const Step& step) {
  Vector sum[kChains];
#pragma GCC unroll 32
  for (int c = 0; c < kChains; ++c) sum[c] = Vector{} + (start + static_cast<float>(c));
  for (int64_t i = 0; i < kRounds; ++i)
#pragma GCC unroll 32
    for (int c = 0; c < kChains; ++c) sum[c] = step(sum[c]);
  float total = 0;
#pragma GCC unroll 32
  for (const Vector& chain : sum)
    for (int lane = 0; lane < kLanes; ++lane) total += chain[lane];
  return total;
}

// run(start) runs the chains of one thread, of so many flop for each lane of a step.
template <class Run>
double peak_gflops(double flop_of_lane, const Run& run) {
  const int n = thread_count();
  double best = 0;
  for (int attempt = 0; attempt < 5; ++attempt) {
    [[maybe_unused]] volatile float sink = 0;
    const double time = analysis::seconds([&] {
      parallel_for(n, [&](int64_t i) {
        const float total = run(static_cast<float>(i) + 1);
        if (total == 0) sink = total;  // never: keeps the loop
      });
    });
    best = std::max(best, flop_of_lane * kLanes * kChains * kRounds * n / time * 1e-9);
  }
  return best;
}

}  // namespace

double fma_peak_gflops() {
  return peak_gflops(2, [](float start) {
    const Vector factor = Vector{} + 0.999f, term = Vector{} + start;
    return run_chains(start, [&](Vector sum) { return sum * factor + term; });
  });
}

double bf16_pair_peak_gflops() {
#if defined(__AVX512BF16__)
  return peak_gflops(4, [](float start) {
    const auto pairs = _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.01f), _mm512_set1_ps(-0.01f));
    return run_chains(start, [&](Vector sum) {
      return reinterpret_cast<Vector>(
          _mm512_dpbf16_ps(reinterpret_cast<__m512>(sum), pairs, pairs));
    });
  });
#else
  return 0;
#endif
}

}  // namespace farfield::train
