#include "apps/compare/program.h"

#include <string_view>

#include "apps/compare/command.h"
#include "apps/eval/command.h"

namespace farfield::compare {

int eval_program(int argc, const char* const* argv, std::ostream& out) {
  return argc > 1 && std::string_view(argv[1]) == "compare" ? eval_compare(argc - 1, argv + 1, out)
                                                            : eval::eval_command(argc, argv, out);
}

}  // namespace farfield::compare
