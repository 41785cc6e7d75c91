#include "tests/support/cuda/mma.h"

#include <bit>
#include <cmath>

#include "tests/support/cuda/block.h"

namespace farfield::emulation {
namespace {

struct MmaLane {
  float* d;
  const uint32_t* a;
  const uint32_t* b;
  const float* c;
};

// One of the two bfloat16 in a register, the first in its lower half.
float half_of(uint32_t pair, int i) {
  return std::bit_cast<float>(i == 0 ? pair << 16 : pair & 0xffff0000u);
}

// As tensor cores leave a sum: without the bits that do not fit, infinite where it is too large.
float toward_zero(double x) {
  const auto rounded = static_cast<float>(x);
  const bool is_beyond = std::abs(static_cast<double>(rounded)) > std::abs(x);
  const auto bits = std::bit_cast<uint32_t>(rounded);
  return is_beyond && !std::isinf(rounded) ? std::bit_cast<float>(bits - 1) : rounded;
}

// PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type": lane = 4 group + member.
// a[r] holds row group + 8 (r % 2), columns 2 member + 8 (r / 2) and the next; b[r] rows
// 2 member + 8 r and the next of column group; c[i] row group + 8 (i / 2), column 2 member + i % 2.
void multiply(void* const* lanes) {
  float a[16][16], b[16][8], d[16][8];
  for (int i = 0; i < 32; ++i) {
    const auto& lane = *static_cast<const MmaLane*>(lanes[i]);
    const int group = i / 4, member = i % 4;
    for (int half = 0; half < 2; ++half) {
      for (int r = 0; r < 4; ++r)
        a[group + r % 2 * 8][2 * member + half + r / 2 * 8] = half_of(lane.a[r], half);
      for (int r = 0; r < 2; ++r) b[2 * member + half + 8 * r][group] = half_of(lane.b[r], half);
    }
    for (int r = 0; r < 4; ++r) d[group + r / 2 * 8][2 * member + r % 2] = lane.c[r];
  }
  for (int m = 0; m < 16; ++m) {
    double row[8];  // stays in registers
    for (int n = 0; n < 8; ++n) row[n] = d[m][n];
    for (int k = 0; k < 16; ++k)
      for (int n = 0; n < 8; ++n) row[n] += static_cast<double>(a[m][k]) * b[k][n];
    for (int n = 0; n < 8; ++n) d[m][n] = toward_zero(row[n]);
  }
  for (int i = 0; i < 32; ++i) {
    const auto& lane = *static_cast<const MmaLane*>(lanes[i]);
    for (int r = 0; r < 4; ++r) lane.d[r] = d[i / 4 + r / 2 * 8][2 * (i % 4) + r % 2];
  }
}

}  // namespace

void mma_m16n8k16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                  const float (&c)[4], Where where) {
  MmaLane lane{d, a, b, c};
  this_block().warp({"mma", ~0u, where, multiply}, &lane);
}

}  // namespace farfield::emulation
