#include "tests/support/cuda/warp.h"

#include <algorithm>

#include "tests/support/cuda/builtins.h"

namespace farfield::emulation {
namespace {

template <class F>
void give_all(void* const* lanes, unsigned value, const F& f) {
  for (int i = 0; i < 32; ++i)
    if (const auto* lane = static_cast<const ReduceLane*>(lanes[i])) value = f(value, lane->value);
  for (int i = 0; i < 32; ++i)
    if (auto* lane = static_cast<ReduceLane*>(lanes[i])) lane->value = value;
}

}  // namespace

LanePlace::LanePlace(int width) {
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  lane = static_cast<int>(thread % 32);
  first = lane / width * width;
  last = first + width - 1;
}

unsigned vote(const char* name, unsigned mask, bool predicate, Where where) {
  const auto complete = [](void* const* lanes) {
    unsigned ballot = 0;
    for (int i = 0; i < 32; ++i)
      if (const auto* lane = static_cast<const VoteLane*>(lanes[i]); lane && lane->predicate)
        ballot |= 1u << i;
    for (int i = 0; i < 32; ++i)
      if (auto* lane = static_cast<VoteLane*>(lanes[i])) lane->ballot = ballot;
  };
  VoteLane lane{predicate, 0};
  this_block().warp({name, mask, where, complete}, &lane);
  return lane.ballot;
}

unsigned reduce(const char* name, unsigned mask, unsigned value, void (*complete)(void* const*),
                Where where) {
  ReduceLane lane{value};
  this_block().warp({name, mask, where, complete}, &lane);
  return lane.value;
}
void complete_min(void* const* lanes) {
  give_all(lanes, ~0u, [](unsigned a, unsigned b) { return std::min(a, b); });
}
void complete_max(void* const* lanes) {
  give_all(lanes, 0, [](unsigned a, unsigned b) { return std::max(a, b); });
}

}  // namespace farfield::emulation
