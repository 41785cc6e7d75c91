#include "posenc/angles.h"

#include <cmath>

#include "engine/base/parallel.h"
#include "engine/dtype.h"

namespace farfield::posenc {
namespace {

double to_bf16(double x) { return static_cast<double>(BFloat16(x)); }

}  // namespace

std::vector<double> geometric_frequencies(int64_t dims, double base) {
  std::vector<double> inv_freq;
  for (int64_t i = 0; i < dims / 2; ++i)
    inv_freq.push_back(std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(dims)));
  return inv_freq;
}

Angles::Angles(std::vector<double> inv_freq, bool emulate_bf16)
    : inv_freq_(std::move(inv_freq)), emulate_bf16_(emulate_bf16) {
  if (emulate_bf16)
    for (double& frequency : inv_freq_) frequency = to_bf16(frequency);
}

Angles::Angles(int64_t dims, double base, bool emulate_bf16)
    : Angles(geometric_frequencies(dims, base), emulate_bf16) {}

double Angles::operator()(double position, size_t i) const {
  return emulate_bf16_ ? to_bf16(to_bf16(position) * inv_freq_[i]) : position * inv_freq_[i];
}

Angles::Waves Angles::waves(std::span<const double> positions, double factor) const {
  const size_t width = inv_freq_.size();
  Waves waves{std::vector<double>(positions.size() * width),
              std::vector<double>(positions.size() * width)};
  parallel_chunks(static_cast<int64_t>(positions.size()), 256, [&](int64_t begin, int64_t end) {
    for (auto row = static_cast<size_t>(begin); row < static_cast<size_t>(end); ++row)
      for (size_t i = 0; i < width; ++i) {
        const double angle = (*this)(positions[row], i);
        waves.cos[row * width + i] = factor * std::cos(angle);
        waves.sin[row * width + i] = factor * std::sin(angle);
      }
  });
  return waves;
}

}  // namespace farfield::posenc
