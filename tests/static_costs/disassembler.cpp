#include "tests/static_costs/disassembler.h"

#include <cstdio>

#include "engine/base/error.h"

namespace farfield::static_costs {

std::string output_of(const std::string& program, const char* options,
                      const std::filesystem::path& object) {
  const std::string line = concat('\'', program, "' ", options, " '", object.string(), "' 2>&1");
  std::FILE* pipe = popen(line.c_str(), "r");
  require<IoError>(pipe != nullptr, "static_costs", "expected to run ", line);
  std::string output;
  char buffer[1 << 16];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, n);
  require<IoError>(pclose(pipe) == 0, "static_costs", "expected ", line, " to succeed, got ",
                   output.substr(0, 400));
  return output;
}

}  // namespace farfield::static_costs
