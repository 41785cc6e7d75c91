#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::static_costs {

/// An instruction of a GPU's machine code (SASS).
struct Instruction {
  int64_t address = 0;
  std::string opcode = {};             ///< without its modifiers: "IMAD" for IMAD.WIDE.U32
  std::optional<int64_t> target = {};  ///< where a branch or a call may lead
  bool goes_on = true;                 ///< to what follows it
};

/// The machine code of one kernel.
struct Code {
  std::string function = {};  ///< mangled
  int sm = 0;                 ///< 80 for sm_80
  std::vector<Instruction> instructions = {};
};

/// Reads the output of `cuobjdump -sass` for an object file.
/// Throws    IoError for an instruction outside of a function
std::vector<Code> read_sass(std::string_view listing);

/// A loop of a kernel: its instructions, as indices in order.
struct Loop {
  std::vector<size_t> body = {};
  bool is_innermost = true;  ///< holds no other
};

/// The natural loops of the graph of control flow, those with one header taken as one. A back edge
/// is one to an instruction on the path of a depth-first search, which is exact for reducible
/// graphs; a compiler makes hardly any others. Source    Aho, Lam, Sethi and Ullman, "Compilers",
/// 2nd edition, section 9.6
std::vector<Loop> loops_of(const std::vector<Instruction>& code);

}  // namespace farfield::static_costs
