#pragma once
// Operations of a warp: shuffles, votes, reductions, __syncwarp.

#include <cstdint>
#include <type_traits>

#include "tests/support/cuda/block.h"

namespace farfield::emulation {

template <class T>
struct ShuffleLane {
  T value;
  int source;
  T result;
};

template <class T>
void complete_shuffle(void* const* lanes) {
  for (int i = 0; i < 32; ++i) {
    auto* lane = static_cast<ShuffleLane<T>*>(lanes[i]);
    if (!lane) continue;
    const auto* source = static_cast<const ShuffleLane<T>*>(lanes[lane->source]);
    if (!source) this_block().fail_shuffle(i, lane->source);
    lane->result = source->value;
  }
}

/// The value of the source lane.
template <class T>
T shuffle(const char* name, unsigned mask, T value, int source, Where where) {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) >= 4, "the types that CUDA shuffles");
  ShuffleLane<T> lane{value, source, value};
  this_block().warp({name, mask, where, complete_shuffle<T>}, &lane);
  return lane.result;
}

/// Where the running thread is in its warp and in its part of `width` lanes.
struct LanePlace {
  int lane, first, last;
  explicit LanePlace(int width);
};

struct VoteLane {
  bool predicate;
  unsigned ballot;
};
/// The lanes whose predicate holds.
unsigned vote(const char* name, unsigned mask, bool predicate, Where where);

struct ReduceLane {
  unsigned value;
};
/// complete: sets the value of each lane that takes part to what all of them get.
unsigned reduce(const char* name, unsigned mask, unsigned value, void (*complete)(void* const*),
                Where where);
void complete_min(void* const* lanes);
void complete_max(void* const* lanes);

}  // namespace farfield::emulation

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32,
              farfield::emulation::Where where = farfield::emulation::Where::here()) {
  const farfield::emulation::LanePlace at(width);
  return farfield::emulation::shuffle("__shfl_sync", mask, value, at.first + (source & (width - 1)),
                                      where);
}

template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                 farfield::emulation::Where where = farfield::emulation::Where::here()) {
  const farfield::emulation::LanePlace at(width);
  const int source = at.lane - static_cast<int>(delta);
  return farfield::emulation::shuffle("__shfl_up_sync", mask, value,
                                      source < at.first ? at.lane : source, where);
}

template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   farfield::emulation::Where where = farfield::emulation::Where::here()) {
  const farfield::emulation::LanePlace at(width);
  const int source = at.lane + static_cast<int>(delta);
  return farfield::emulation::shuffle("__shfl_down_sync", mask, value,
                                      source > at.last ? at.lane : source, where);
}

template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32,
                  farfield::emulation::Where where = farfield::emulation::Where::here()) {
  const farfield::emulation::LanePlace at(width);
  const int source = at.lane ^ lane_mask;
  return farfield::emulation::shuffle("__shfl_xor_sync", mask, value,
                                      source > at.last ? at.lane : source, where);
}

inline unsigned __ballot_sync(
    unsigned mask, int predicate,
    farfield::emulation::Where where = farfield::emulation::Where::here()) {
  return farfield::emulation::vote("__ballot_sync", mask, predicate != 0, where);
}

inline int __any_sync(unsigned mask, int predicate,
                      farfield::emulation::Where where = farfield::emulation::Where::here()) {
  return farfield::emulation::vote("__any_sync", mask, predicate != 0, where) != 0;
}

inline int __all_sync(unsigned mask, int predicate,
                      farfield::emulation::Where where = farfield::emulation::Where::here()) {
  return farfield::emulation::vote("__all_sync", mask, predicate != 0, where) == mask;
}

inline unsigned __reduce_min_sync(
    unsigned mask, unsigned value,
    farfield::emulation::Where where = farfield::emulation::Where::here()) {
  using namespace farfield::emulation;
  return reduce("__reduce_min_sync", mask, value, complete_min, where);
}

inline unsigned __reduce_max_sync(
    unsigned mask, unsigned value,
    farfield::emulation::Where where = farfield::emulation::Where::here()) {
  using namespace farfield::emulation;
  return reduce("__reduce_max_sync", mask, value, complete_max, where);
}

inline void __syncwarp(unsigned mask = ~0u,
                       farfield::emulation::Where where = farfield::emulation::Where::here()) {
  farfield::emulation::this_block().warp({"__syncwarp", mask, where, [](void* const*) {}}, nullptr);
}
