// Products of matrices of our own: float32, and bfloat16 summed in float32.

#include "engine/base/error.h"
#include "engine/cpu/gemm/blocked.h"
#include "engine/cpu/gemm/library.h"

namespace farfield {
namespace {

using lanes::BlockedProduct;

// sums to c, rounded once.
void narrow(const float* sums, const Gemm& p) {
  auto* const c = static_cast<BFloat16*>(p.c);
  for (int64_t r = 0; r < p.m; ++r) {
    const float* const from = sums + r * p.n;
    BFloat16* const to = c + r * p.ldc;
    if (p.accumulate)
      for (int64_t j = 0; j < p.n; ++j) to[j] = BFloat16(static_cast<float>(to[j]) + from[j]);
    else
      for (int64_t j = 0; j < p.n; ++j) to[j] = BFloat16(from[j]);
  }
}

template <class Terms, class T>
struct Packed {
  using Blocked = BlockedProduct<Terms, T>;
  using Unit = typename Terms::Unit;

  static int64_t bytes(const Gemm& p) {
    return lanes::units_of<Terms>(p.k) * lanes::kPackedCols * static_cast<int64_t>(sizeof(Unit));
  }
  static bool reads_b(const Gemm& p) { return Blocked::reads_b(p); }
  static int64_t slice(const Gemm& p) { return Blocked::slice(p); }
  static void pack(const Gemm& p, int64_t n0, int64_t n, void* to) {
    Blocked::pack_b(p, n0, n, static_cast<Unit*>(to));
  }
  static void product(const Gemm& p, const void* packed) {
    const auto* const b = static_cast<const Unit*>(packed);
    if (p.out == DType::f32)
      return Blocked::multiply(p, b, static_cast<float*>(p.c), p.ldc, p.accumulate);
    Buffer<float> sums(p.m * p.n);
    Blocked::multiply(p, b, sums.data(), p.n, false);
    narrow(sums.data(), p);
  }
};

// The same by the type of the operands.
using Float = Packed<lanes::Elements<float>, float>;
template <class Terms>
struct ByType {
  using Narrow = Packed<Terms, BFloat16>;

  static int64_t bytes(const Gemm& p) {
    return p.in == DType::f32 ? Float::bytes(p) : Narrow::bytes(p);
  }
  static bool reads_b(const Gemm& p) {
    return p.in == DType::f32 ? Float::reads_b(p) : Narrow::reads_b(p);
  }
  static int64_t slice(const Gemm& p) {
    return p.in == DType::f32 ? Float::slice(p) : Narrow::slice(p);
  }
  static void pack(const Gemm& p, int64_t n0, int64_t n, void* to) {
    p.in == DType::f32 ? Float::pack(p, n0, n, to) : Narrow::pack(p, n0, n, to);
  }
  static void product(const Gemm& p, const void* packed) {
    p.in == DType::f32 ? Float::product(p, packed) : Narrow::product(p, packed);
  }
  static constexpr PackedGemm kPacked{
      lanes::kBlockRows, lanes::kPackedCols, reads_b, slice, bytes, pack, product};
};

// A panel alone, with its own B.
template <class Terms>
void product(const Gemm& p) {
  using Packed = ByType<Terms>;
  const int64_t n_block = (p.n + lanes::kPackedCols - 1) / lanes::kPackedCols;
  Buffer<std::byte> b(n_block * Packed::bytes(p));
  Packed::pack(p, 0, p.n, b.data());
  Packed::product(p, b.data());
}

template <class Terms>
void multiply_by(GemmLibrary& library) {
  library.product = product<Terms>;
  library.packed = &ByType<Terms>::kPacked;
}

bool takes_f32(DType in, DType out) { return in == DType::f32 && out == DType::f32; }
bool takes_bf16_too(DType in, DType out) {
  return takes_f32(in, out) || (in == DType::bf16 && (out == DType::f32 || out == DType::bf16));
}

#if defined(__AVX512F__)
constexpr const char* kInstructions = "AVX-512";
#elif defined(__AVX2__)
constexpr const char* kInstructions = "AVX2";
#elif defined(__aarch64__)
constexpr const char* kInstructions = "NEON";
#else
constexpr const char* kInstructions = "vectors of 16 bytes";
#endif

}  // namespace

GemmLibrary own_library(const CpuFeatures& features, bool takes_bf16) {
  GemmLibrary library;
  library.name = "Farfield";
  library.takes = takes_bf16 ? takes_bf16_too : takes_f32;
  // Packing B takes as long as some ten rows.
  library.least_rows = 32;
  library.instruction_set = concat(kInstructions, ", as compiled");
#if defined(__AVX512BF16__)
  if (features.has_fast_pairs()) {
    multiply_by<lanes::Bf16Pairs>(library);
    library.bf16 = "by VDPBF16PS";
    library.multiplies_pairs = true;
    return library;
  }
  constexpr const char* kUnused = "the processor's VDPBF16PS does no more flop than its FMA";
#else
  constexpr const char* kUnused = "this build is for processors without AVX512-BF16";
#endif
  multiply_by<lanes::Elements<float>>(library);
  library.bf16 = concat("widened to float32: ",
                        features.avx512_bf16 ? kUnused : "the processor has no AVX512-BF16");
  return library;
}

}  // namespace farfield
