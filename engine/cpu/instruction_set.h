#pragma once
// Which instructions a library of matrix products may use on a processor: decided from what the
// processor and the system say, never by timing, so that a machine always computes the same way.

#include <string>
#include <string_view>

namespace farfield {

/// Features of a processor by CPUID, and the features that the system lets a process use.
struct CpuFeatures {
  bool is_x86 = false;
  bool avx512_bf16 = false;
  bool avx512_fp16 = false;
  bool amx = false;              ///< advertises AMX with products of bfloat16
  bool tiles_described = false;  ///< CPUID leaf 0x1D gives the sizes of its tiles
  bool tiles_permitted = false;  ///< the system lets this process use them (arch_prctl)

  /// VDPBF16PS does twice the flop of an FMA, as on Zen 4. On Intel's processors with AVX512-FP16
  /// it does half: 117 and 235 GFLOP/s on a Sapphire Rapids.
  bool has_fast_pairs() const { return avx512_bf16 && !avx512_fp16; }
  bool has_usable_amx() const { return amx && tiles_described && tiles_permitted; }
};

/// The features of this machine, read once, at the first call.
const CpuFeatures& cpu_features();

struct InstructionChoice {
  /// The library must not use AMX: it trusts CPUID, and dies of SIGILL if tiles cannot be
  /// configured.
  bool hold_below_amx = false;
  /// Products of bfloat16 go to the library unchanged. Without AMX tiles its kernels are slower
  /// than our own, even where these widen to float32: 131 and 252 GFLOP/s with AVX512-BF16 alone.
  bool bf16 = false;
  std::string why_widened;  ///< for people; empty with bf16
};

/// `limit` is the user's limit for the library (DNNL_MAX_CPU_ISA), which always holds; empty: no
/// limit.
InstructionChoice choose_instructions(const CpuFeatures& features, std::string_view limit);

}  // namespace farfield
