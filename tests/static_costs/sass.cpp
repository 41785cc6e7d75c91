#include "tests/static_costs/sass.h"

#include <algorithm>
#include <charconv>

#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::static_costs {
namespace {

int64_t hexadecimal(std::string_view digits) {
  int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

// "@!P0 BRA P1, 0x5a0" at its address.
Instruction instruction_of(int64_t address, std::string_view text) {
  Instruction result = {.address = address};
  const bool is_guarded = text.starts_with('@');
  if (is_guarded) text = trimmed(text.substr(std::min(text.find(' '), text.size())));
  const size_t end = std::min(text.find_first_of(". "), text.size());
  result.opcode = text.substr(0, end);
  const std::string& name = result.opcode;
  const size_t operand = text.rfind("0x");
  if ((name == "BRA" || name == "JMP" || name == "CALL") && operand != std::string_view::npos)
    result.target = hexadecimal(text.substr(operand + 2));
  const bool is_jump = name == "BRA" || name == "JMP" || name == "BRX" || name == "JMX";
  const bool has_condition = is_guarded || (is_jump && text.find(',') != std::string_view::npos);
  result.goes_on = has_condition || !(is_jump || name == "EXIT" || name == "RET");
  return result;
}

}  // namespace

std::vector<Code> read_sass(std::string_view listing) {
  std::vector<Code> result;
  int sm = 0;
  while (!listing.empty()) {
    const size_t end = std::min(listing.find('\n'), listing.size());
    std::string_view line = trimmed(listing.substr(0, end));
    listing.remove_prefix(std::min(end + 1, listing.size()));
    constexpr std::string_view kFor = "code for sm_", kFunction = "Function : ";
    if (line.starts_with(kFor)) {
      line.remove_prefix(kFor.size());
      std::from_chars(line.data(), line.data() + line.size(), sm);
    } else if (line.starts_with(kFunction)) {
      result.push_back({.function = std::string(line.substr(kFunction.size())), .sm = sm});
    } else if (line.starts_with("/*") && !line.starts_with("/* ")) {  // "/*0070*/ @P0 EXIT ; /* ...
      require<IoError>(!result.empty(), "static_costs",
                       "expected a function before instructions, got '", line, "'");
      const size_t open = line.find("*/"), close = line.find(';');
      if (open == std::string_view::npos || close == std::string_view::npos) continue;
      result.back().instructions.push_back(instruction_of(
          hexadecimal(line.substr(2, open - 2)), trimmed(line.substr(open + 2, close - open - 2))));
    }
  }
  return result;
}

}  // namespace farfield::static_costs
