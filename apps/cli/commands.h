#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace farfield::cli {

/// One of the things that a program of several commands does: its name, a line about it, and the
/// function behind it. argv[0] stands for the name; what it has to say goes to `out`.
struct Command {
  std::string name, summary;
  int (*run)(int argc, const char* const* argv, std::ostream& out);
};

/// Runs the command that argv[1] names with what follows, and returns its exit code; --help lists
/// them under `summary`, --version says what this was built from. ConfigError, with the nearest
/// name, for one that is not there.
int run_command(const std::string& program, const std::string& summary,
                const std::vector<Command>& commands, int argc, const char* const* argv,
                std::ostream& out);

}  // namespace farfield::cli
