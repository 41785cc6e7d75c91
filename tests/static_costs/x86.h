#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/static_costs/sass.h"

namespace farfield::static_costs {

/// The role of an x86-64 instruction in a loop of vectors.
enum class HostKind {
  other,
  to_stack,    ///< stores a whole vector register on the stack
  from_stack,  ///< takes one from there, as a move or an operand
  multiply,    ///< of vectors, with or without a sum: compilers do not fuse a single chain
  call,
};

/// A function of an object file for x86-64.
struct HostFunction {
  std::string name = {};  ///< as the listing has it: demangled by `objdump -C`
  std::vector<Instruction> instructions = {};
  std::vector<HostKind> kinds = {};  ///< of each instruction

  int64_t count(HostKind kind) const;
  /// In its innermost loops alone.
  int64_t count_in_loops(HostKind kind) const;
};

/// Reads the output of `objdump -d --no-show-raw-insn` for an object file. Vector registers are ymm
/// and zmm: xmm holds scalars too.
/// Throws    IoError for an instruction outside of a function
std::vector<HostFunction> read_x86(std::string_view listing);

}  // namespace farfield::static_costs
