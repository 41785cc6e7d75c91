#include "tests/static_costs/x86.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::static_costs {
namespace {

// Behind the last occurrence of a part, or 0.
size_t last(std::string_view text, std::string_view part) {
  const size_t at = text.rfind(part);
  return at == std::string_view::npos ? 0 : at + part.size();
}

// Where the operand in memory begins that lies on the stack: relative to %rsp, or below a frame
// that %rbp points to. npos: there is none.
size_t on_stack(std::string_view operands, bool has_frame) {
  if (const size_t at = operands.find("(%rsp"); at != std::string_view::npos) return at;
  const size_t frame = operands.find("(%rbp");
  if (!has_frame || frame == std::string_view::npos) return std::string_view::npos;
  const size_t before = operands.find_last_of(" ,", frame);
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return operands[begin] == '-' ? frame : std::string_view::npos;
}

HostKind kind_of(std::string_view opcode, std::string_view operands, bool has_frame) {
  if (opcode.starts_with("call")) return HostKind::call;
  const size_t vector = std::max(last(operands, "%ymm"), last(operands, "%zmm"));
  if (vector == 0) return HostKind::other;
  if (const size_t stack = on_stack(operands, has_frame); stack != std::string_view::npos)
    return stack > vector ? HostKind::to_stack : HostKind::from_stack;  // where it goes comes last
  if (opcode.starts_with("vfmadd") || opcode.starts_with("vfnmadd") ||
      opcode.starts_with("vmulp") || opcode.starts_with("vdpbf16ps"))
    return HostKind::multiply;
  return HostKind::other;
}

Instruction instruction_of(int64_t address, std::string_view opcode, std::string_view operands) {
  Instruction result = {.address = address, .opcode = std::string(opcode)};
  const bool is_jump = opcode.starts_with('j');
  int64_t target = 0;  // "jne 150 <name+0x150>"; none of "jmp *%rax"
  if (is_jump &&
      std::from_chars(operands.data(), operands.data() + operands.size(), target, 16).ec ==
          std::errc())
    result.target = target;
  result.goes_on = !(opcode == "jmp" || opcode.starts_with("ret") || opcode.starts_with("ud2"));
  return result;
}

}  // namespace

int64_t HostFunction::count(HostKind kind) const {
  return std::count(kinds.begin(), kinds.end(), kind);
}

int64_t HostFunction::count_in_loops(HostKind kind) const {
  if (count(kind) == 0) return 0;
  int64_t n = 0;
  for (const Loop& loop : loops_of(instructions))  // two innermost loops share nothing
    if (loop.is_innermost)
      n += std::count_if(loop.body.begin(), loop.body.end(),
                         [&](size_t i) { return kinds[i] == kind; });
  return n;
}

std::vector<HostFunction> read_x86(std::string_view listing) {
  std::vector<HostFunction> result;
  bool has_frame = false;
  while (!listing.empty()) {
    const size_t end = std::min(listing.find('\n'), listing.size());
    std::string_view line = listing.substr(0, end);
    listing.remove_prefix(std::min(end + 1, listing.size()));
    int64_t address = 0;
    const std::string_view text = trimmed(line);
    const auto read = std::from_chars(text.data(), text.data() + text.size(), address, 16);
    if (read.ec != std::errc()) continue;
    std::string_view rest = text.substr(static_cast<size_t>(read.ptr - text.data()));
    if (rest.starts_with(" <") && rest.ends_with(">:")) {  // "0000000000000010 <name>:"
      result.push_back({.name = std::string(rest.substr(2, rest.size() - 4))});
      has_frame = false;
    } else if (rest.starts_with(':')) {  // "  10:\tvaddps %ymm0,%ymm1,%ymm2"
      require<IoError>(!result.empty(), "static_costs",
                       "expected a function before instructions, got '", text, "'");
      rest = trimmed(rest.substr(1));
      const size_t space = std::min(rest.find_first_of(" \t"), rest.size());
      const std::string_view opcode = rest.substr(0, space), operands = trimmed(rest.substr(space));
      has_frame = has_frame || (opcode == "mov" && operands == "%rsp,%rbp");
      result.back().instructions.push_back(instruction_of(address, opcode, operands));
      result.back().kinds.push_back(kind_of(opcode, operands, has_frame));
    }
  }
  return result;
}

}  // namespace farfield::static_costs
