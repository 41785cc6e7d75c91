#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace farfield::static_costs {

/// The unit that an instruction uses.
enum class Kind {
  fp32,     ///< FFMA, FADD, FMUL and the like
  mufu,     ///< e^x, reciprocals, roots
  tensor,   ///< HMMA
  integer,  ///< IMAD, IADD3, LOP3, SHF, LEA, ISETP and those of uniform registers
  convert,  ///< F2F, F2FP, I2F, F2I
  global,   ///< LDG, STG, RED, ATOM, copies to shared memory, local memory
  shared,   ///< LDS, STS, LDSM
  control,  ///< branches, barriers, NOP
  other,    ///< MOV, SEL, PRMT, SHFL, constants, half precision
};
inline constexpr int kKinds = 9;

/// How many instructions of each kind.
using Counts = std::array<int64_t, kKinds>;

/// Of an opcode without its modifiers.
Kind kind_of(std::string_view opcode);
/// "fp32", "mufu", ...
std::string name_of(Kind kind);
int64_t total(const Counts& counts);

}  // namespace farfield::static_costs
