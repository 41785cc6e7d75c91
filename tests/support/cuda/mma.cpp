#include "tests/support/cuda/mma.h"

#include <bit>
#include <cmath>

#include "tests/support/cuda/block.h"
#include "tests/support/cuda/builtins.h"

namespace farfield::emulation {
namespace {

struct MmaLane {
  float* d;
  const uint32_t* a;
  const uint32_t* b;
  const float* c;
};
struct SharedProductLane {
  float (*d)[4];
  const uint32_t* a;         // null: in shared memory
  const BFloat16* shared_a;  // of the warp
  const BFloat16* b;
  bool adds;
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
// Those of a and d of wgmma are the same.
void take_a(float (&a)[16][16], int lane, const uint32_t* registers) {
  for (int half = 0; half < 2; ++half)
    for (int r = 0; r < 4; ++r)
      a[lane / 4 + r % 2 * 8][2 * (lane % 4) + half + r / 2 * 8] = half_of(registers[r], half);
}
float& element(float (&d)[16][8], int lane, int i) {
  return d[lane / 4 + i / 2 * 8][2 * (lane % 4) + i % 2];
}
void add_product(float (&d)[16][8], const float (&a)[16][16], const float (&b)[16][8]) {
  for (int m = 0; m < 16; ++m) {
    double row[8];  // stays in registers
    for (int n = 0; n < 8; ++n) row[n] = d[m][n];
    for (int k = 0; k < 16; ++k)
      for (int n = 0; n < 8; ++n) row[n] += static_cast<double>(a[m][k]) * b[k][n];
    for (int n = 0; n < 8; ++n) d[m][n] = toward_zero(row[n]);
  }
}

void multiply(void* const* lanes) {
  float a[16][16], b[16][8], d[16][8];
  for (int i = 0; i < 32; ++i) {
    const auto& lane = *static_cast<const MmaLane*>(lanes[i]);
    take_a(a, i, lane.a);
    for (int half = 0; half < 2; ++half)
      for (int r = 0; r < 2; ++r) b[2 * (i % 4) + half + 8 * r][i / 4] = half_of(lane.b[r], half);
    for (int r = 0; r < 4; ++r) element(d, i, r) = lane.c[r];
  }
  add_product(d, a, b);
  for (int i = 0; i < 32; ++i)
    for (int r = 0; r < 4; ++r) static_cast<const MmaLane*>(lanes[i])->d[r] = element(d, i, r);
}

// PTX ISA, "Matrix descriptor" and "Shared memory layout", swizzling by 128 bytes: of an address,
// bits 7 to 9 are added to bits 4 to 6 without carry.
float swizzled(uintptr_t at) {
  const auto* const bits = reinterpret_cast<const uint16_t*>(at ^ (at >> 7 & 7) << 4);
  return std::bit_cast<float>(static_cast<uint32_t>(*bits) << 16);
}

void multiply_right_shared(void* const* lanes) {
  const auto& first = *static_cast<const SharedProductLane*>(lanes[0]);
  // Of a in shared memory, rows of b are columns of the product.
  const auto b_at = [&](size_t k, size_t column) {
    const auto begin = reinterpret_cast<uintptr_t>(first.b);
    return swizzled(begin + (first.a ? 128 * k + 2 * column : 128 * column + 2 * k));
  };
  float a[16][16], b[16][8], d[16][8];
  if (first.a) {
    for (int i = 0; i < 32; ++i) take_a(a, i, static_cast<const SharedProductLane*>(lanes[i])->a);
  } else {
    for (size_t m = 0; m < 16; ++m)
      for (size_t k = 0; k < 16; ++k)
        a[m][k] = swizzled(reinterpret_cast<uintptr_t>(first.shared_a) + 128 * m + 2 * k);
  }
  for (size_t piece = 0; piece < 8; ++piece) {
    const auto at = [&](int i, int r) -> float& {
      return static_cast<const SharedProductLane*>(lanes[i])->d[piece][r];
    };
    for (int i = 0; i < 32; ++i)
      for (int r = 0; r < 4; ++r) element(d, i, r) = first.adds ? at(i, r) : 0;
    for (size_t k = 0; k < 16; ++k)
      for (size_t n = 0; n < 8; ++n) b[k][n] = b_at(k, 8 * piece + n);
    add_product(d, a, b);
    for (int i = 0; i < 32; ++i)
      for (int r = 0; r < 4; ++r) at(i, r) = element(d, i, r);
  }
}

}  // namespace

void mma_m16n8k16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                  const float (&c)[4], Where where) {
  MmaLane lane{d, a, b, c};
  this_block().warp({"mma", ~0u, where, multiply}, &lane);
}

void multiply_shared(float (&d)[8][4], const BFloat16* a, const BFloat16* b, bool adds,
                     Where where) {
  const auto warp = static_cast<ptrdiff_t>(::threadIdx.x / 32 % 4);
  SharedProductLane lane{d, nullptr, a + warp * 16 * 64, b, adds};
  this_block().warp({"wgmma", ~0u, where, multiply_right_shared}, &lane);
}

void multiply_by_shared(float (*d)[4], const uint32_t (&a)[4], const BFloat16* b, Where where) {
  SharedProductLane lane{d, a, nullptr, b, true};
  this_block().warp({"wgmma", ~0u, where, multiply_right_shared}, &lane);
}

}  // namespace farfield::emulation
