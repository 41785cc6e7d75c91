#pragma once
// Matrix products of a warpgroup, which is four warps of a block, the first a multiple of four: the
// tensor cores read factors from shared memory by themselves, beside what the warps do next. Of
// compute capability 9.0 alone: machine code for sm_90a has it, no other.

#include <cstdint>

#include "engine/cuda/async_proxy.cuh"
#include "engine/cuda/launch.h"
#include "engine/cuda/swizzle.h"
#include "engine/dtype.h"

#if !defined(__CUDACC__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define FARFIELD_HAS_WGMMA
#endif

namespace farfield {

/// A factor in swizzled rows, starting at one of its elements.
class SwizzledFactor {
 public:
#ifdef __CUDACC__
  __device__ explicit SwizzledFactor(const BFloat16* first)
      : low_((static_cast<uint32_t>(__cvta_generic_to_shared(first)) >> 4) + (1u << 16)) {}
  /// So many elements further on: a multiple of 8.
  __device__ SwizzledFactor operator+(int elements) const {
    return SwizzledFactor(low_ + static_cast<uint32_t>(elements / 8));
  }
  /// The "matrix descriptor" of PTX. Groups of eight rows are 1024 bytes apart, which is told in
  /// units of 16, as the address is; the number of the swizzle is 1.
  __device__ uint64_t descriptor() const {
    constexpr uint64_t kHigh = uint64_t{1} << 62 | uint64_t{1024 / 16} << 32;
    return kHigh + low_;
  }

 private:
  __device__ explicit SwizzledFactor(uint32_t low) : low_(low) {}
  uint32_t low_;
#else
  explicit SwizzledFactor(const BFloat16* first) : first_(first) {}
  SwizzledFactor operator+(int elements) const { return SwizzledFactor(first_ + elements); }
  const BFloat16* first() const { return first_; }

 private:
  const BFloat16* first_;
#endif
};

// The registers of eight pieces from the n-th on, and what their instructions begin with.
#define FARFIELD_PIECE(d, n) "+f"(d[n][0]), "+f"(d[n][1]), "+f"(d[n][2]), "+f"(d[n][3])
#define FARFIELD_PIECES(d, n)                                                             \
  FARFIELD_PIECE(d, n), FARFIELD_PIECE(d, (n) + 1), FARFIELD_PIECE(d, (n) + 2),           \
      FARFIELD_PIECE(d, (n) + 3), FARFIELD_PIECE(d, (n) + 4), FARFIELD_PIECE(d, (n) + 5), \
      FARFIELD_PIECE(d, (n) + 6), FARFIELD_PIECE(d, (n) + 7)
#define FARFIELD_WGMMA                                                      \
  "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "                   \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "

/// d = or, with kAdds, += a b^T, a and b [64, 16] from swizzled rows on, float32 sums of bfloat16,
/// for all threads of a warpgroup together. The product begins now; do not touch d and its factors
/// until wait_for_product_groups().
///
/// Layout    each warp has 16 rows of d that are its own, in pieces of 8 columns, each in the
/// layout
///           of mma_m16n8k16
/// Accuracy  as mma_m16n8k16
/// Source    PTX ISA, wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16, and "Matrix descriptor"
template <bool kAdds>
__device__ void begin_product([[maybe_unused]] float (&d)[8][4],
                              [[maybe_unused]] const SwizzledFactor& a,
                              [[maybe_unused]] const SwizzledFactor& b) {
#ifdef FARFIELD_HAS_WGMMA
#ifdef __CUDACC__
  asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, %34, 0;\n" FARFIELD_WGMMA
               "%32, %33, adds, 1, 1, 0, 0;\n}"
               : FARFIELD_PIECES(d, 0)
               : "l"(a.descriptor()), "l"(b.descriptor()), "n"(kAdds ? 1 : 0));
#else
  emulation::multiply_shared(d, a.first(), b.first(), kAdds);
#endif
#endif
}

/// The same, d += a b, a [64, 16] in registers and b [16, 64] from swizzled rows on; of d these are
/// the columns of 8 pieces from kFirst on. a is computed anew for each product: ptxas 13.0 gave
/// registers of one that is kept over a loop to others.
///
/// Layout    each warp has its 16 rows of a in the layout of mma_m16n8k16
template <int kFirst = 0, int kPieces>
__device__ void begin_adding_product([[maybe_unused]] float (&d)[kPieces][4],
                                     [[maybe_unused]] const uint32_t (&a)[4],
                                     [[maybe_unused]] const SwizzledFactor& b) {
  static_assert(kFirst + 8 <= kPieces);
#ifdef FARFIELD_HAS_WGMMA
#ifdef __CUDACC__
  asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, 1, 0;\n" FARFIELD_WGMMA
               "{%32, %33, %34, %35}, %36, adds, 1, 1, 1;\n}"
               : FARFIELD_PIECES(d, kFirst)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.descriptor()));
#else
  emulation::multiply_by_shared(d + kFirst, a, b.first());
#endif
#endif
}
#undef FARFIELD_WGMMA
#undef FARFIELD_PIECES
#undef FARFIELD_PIECE

/// Before the first product of a group, behind hold() of its sums.
__device__ inline void begin_product_group() {
#if defined(__CUDACC__) && defined(FARFIELD_HAS_WGMMA)
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

/// Ends a group: the products that the warpgroup began since it ended the last one.
__device__ inline void end_product_group() {
#if defined(__CUDACC__) && defined(FARFIELD_HAS_WGMMA)
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}

/// Waits until all groups of products but the last kLater ones have ended.
template <int kLater>
__device__ void wait_for_product_groups() {
#if defined(__CUDACC__) && defined(FARFIELD_HAS_WGMMA)
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLater) : "memory");
#endif
}

/// Keeps the compiler from moving operations on these sums across a begin or a wait.
template <int kPieces>
__device__ void hold([[maybe_unused]] float (&sums)[kPieces][4]) {
#ifdef __CUDACC__
#pragma unroll
  for (int n = 0; n < kPieces; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) asm volatile("" : "+f"(sums[n][i])::"memory");
#endif
}

}  // namespace farfield
