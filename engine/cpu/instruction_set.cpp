#include "engine/cpu/instruction_set.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "engine/base/error.h"

#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#endif

namespace farfield {
namespace {

#if defined(__x86_64__)
struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

// All zero for a leaf that the processor does not have.
Registers cpuid(unsigned leaf, unsigned subleaf) {
  Registers r;
  if (__get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d) == 0) return {};
  return r;
}

constexpr bool bit(unsigned value, int i) { return ((value >> i) & 1) != 0; }

// Palette 1: bytes of a tile, bytes of a row and number of tiles, and the most rows.
bool describes_tiles() {
  if (cpuid(0x1d, 0).a < 1) return false;
  const Registers r = cpuid(0x1d, 1);
  return (r.a >> 16) > 0 && (r.b & 0xffff) > 0 && (r.b >> 16) > 0 && (r.c & 0xffff) > 0;
}

// Linux gives tiles to a process that asks for them.
bool permits_tiles() {
#if defined(__linux__)
  constexpr long kRequest = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return ::syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
#else
  return false;
#endif
}
#endif

// The names that oneDNN has for instruction sets below AMX. It takes one that it does not know for
// no limit at all.
bool excludes_amx(std::string_view limit) {
  static constexpr std::array<std::string_view, 9> kBelow = {"sse41",
                                                             "avx",
                                                             "avx2",
                                                             "avx2_vnni",
                                                             "avx512_mic",
                                                             "avx512_mic_4ops",
                                                             "avx512_core",
                                                             "avx512_core_vnni",
                                                             "avx512_core_bf16"};
  std::string lower(limit);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::find(kBelow.begin(), kBelow.end(), lower) != kBelow.end();
}

}  // namespace

const CpuFeatures& cpu_features() {
  static const CpuFeatures features = [] {
    CpuFeatures f;
#if defined(__x86_64__)
    f.is_x86 = true;
    f.avx512_bf16 = bit(cpuid(7, 1).a, 5);
    const unsigned d = cpuid(7, 0).d;
    f.avx512_fp16 = bit(d, 23);
    f.amx = bit(d, 22) && bit(d, 24);  // AMX-BF16, AMX-TILE
    f.tiles_described = f.amx && describes_tiles();
    f.tiles_permitted = f.tiles_described && permits_tiles();
#endif
    return f;
  }();
  return features;
}

InstructionChoice choose_instructions(const CpuFeatures& f, std::string_view limit) {
  if (!f.is_x86) return {.hold_below_amx = false, .bf16 = true, .why_widened = ""};
  const bool is_excluded = excludes_amx(limit);
  if (f.has_usable_amx() && !is_excluded)
    return {.hold_below_amx = false, .bf16 = true, .why_widened = ""};
  InstructionChoice choice;
  choice.hold_below_amx = f.amx && !is_excluded;
  if (!f.amx)
    choice.why_widened =
        f.avx512_bf16 ? "the processor has AVX512-BF16 but no AMX" : "the processor has no AMX";
  else if (!f.tiles_described)
    choice.why_widened = "the processor advertises AMX but describes no tiles (CPUID leaf 0x1D)";
  else if (!f.tiles_permitted)
    choice.why_widened = "the system does not permit the tiles of AMX (arch_prctl)";
  else
    choice.why_widened = concat("oneDNN is limited to ", limit);
  return choice;
}

}  // namespace farfield
