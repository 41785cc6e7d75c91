#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace farfield::cli {

/// One command of a program with several commands: its name, a line about it, and its function.
/// argv[0] is the name; results go to `out`.
struct Command {
  std::string name, summary;
  int (*run)(int argc, const char* const* argv, std::ostream& out);
};

/// Runs the command that argv[1] names, with the remaining arguments, and returns its exit code;
/// --help lists the commands under `summary`, --version prints the build. ConfigError, with the
/// nearest name, for an unknown command.
int run_command(const std::string& program, const std::string& summary,
                const std::vector<Command>& commands, int argc, const char* const* argv,
                std::ostream& out);

}  // namespace farfield::cli
