#include "engine/distributed/flat_layout.h"

#include <algorithm>

#include "engine/kernels/optim.h"

namespace farfield {
namespace {

// Large enough that the way costs more than the start, and some for each model, so that sums can
// begin while there are more gradients to compute.
constexpr int64_t kLeast = int64_t{1} << 18, kMost = int64_t{1} << 23, kMany = 16;

}  // namespace

int64_t FlatLayout::unit() { return kSquareBlock; }

FlatLayout::FlatLayout(const std::vector<Parameter>& parameters) {
  for (const Parameter& p : parameters) begins_.push_back(begins_.back() + p.value.numel());
  bucket_ = bucket_of(numel());
}

int64_t FlatLayout::bucket_of(int64_t n) {
  const int64_t wanted = std::clamp(n / kMany, kLeast, kMost);
  return (wanted + unit() - 1) / unit() * unit();
}

comm::Range FlatLayout::bucket(int64_t k) const {
  return {k * bucket_, std::min(numel(), (k + 1) * bucket_)};
}

comm::Range FlatLayout::buckets_of(size_t i) const {
  const comm::Range own = parameter(i);
  if (own.size() == 0) return {};
  return {own.begin / bucket_, (own.end - 1) / bucket_ + 1};
}

std::vector<FlatLayout::Segment> FlatLayout::segments(const comm::Range& range) const {
  std::vector<Segment> all;
  auto i = static_cast<size_t>(std::upper_bound(begins_.begin(), begins_.end(), range.begin) -
                               begins_.begin() - 1);
  for (int64_t at = range.begin; at < range.end; ++i) {
    const comm::Range own = parameter(i);
    const int64_t end = std::min(range.end, own.end);
    if (end > at) all.push_back({i, at - own.begin, end - own.begin, at});
    at = std::max(at, end);
  }
  return all;
}

}  // namespace farfield
