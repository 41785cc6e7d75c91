#include "posenc/angles.h"

#include <cmath>

#include "engine/dtype.h"

namespace farfield::posenc {
namespace {

double to_bf16(double x) { return static_cast<double>(BFloat16(x)); }

}  // namespace

Angles::Angles(int64_t dims, double base, bool emulate_bf16) : emulate_bf16_(emulate_bf16) {
  for (int64_t i = 0; i < dims / 2; ++i) {
    const double frequency =
        std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(dims));
    inv_freq_.push_back(emulate_bf16 ? to_bf16(frequency) : frequency);
  }
}

double Angles::operator()(double position, size_t i) const {
  return emulate_bf16_ ? to_bf16(to_bf16(position) * inv_freq_[i]) : position * inv_freq_[i];
}

}  // namespace farfield::posenc
