#include "apps/cli/general_options.h"

#include <algorithm>

namespace farfield::cli {

const std::vector<CompletionWord>& general_options() {
  static const std::vector<CompletionWord> all = {
      {"--config", "FILE",
       "read options from `key = value` lines; options on the command line take precedence"},
      {"--help", "", "print this help"},
      {"--quiet", "", "print no progress and no remarks on stderr, only warnings and errors"},
      {"--verbose", "", "print parameters, hashes and conventions below tables"},
      {"--version", "", "print the version, the commit and the libraries of this build"},
  };
  return all;
}

bool is_general_option(const std::string& name) {
  return std::any_of(general_options().begin(), general_options().end(),
                     [&](const CompletionWord& one) { return one.word == "--" + name; });
}

}  // namespace farfield::cli
