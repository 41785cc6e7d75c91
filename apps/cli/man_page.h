#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/completion_words.h"
#include "apps/cli/own_output.h"

namespace farfield::cli {

/// What a manual page says of a program, or of one of its commands: what --help says.
struct ManSection {
  struct Group {
    std::string title;
    std::vector<CompletionWord> options;  ///< help with the default
  };
  std::string program;  ///< "bench", "bench step"
  std::string summary;
  std::vector<CompletionWord> arguments;  ///< without names; "[RUN...]" is the placeholder
  std::vector<CompletionWord> commands;
  std::vector<Group> groups;
};

/// A text in roff, on one line that never is a request: every character stands for itself.
std::string roff(std::string_view text);

/// `--man section` behind a program or a command: it prints its own section. Options::parse() and
/// run_command() answer it.
bool asks_for_man_section(int argc, const char* const* argv);
void print_man_section(const ManSection& section, std::ostream& out);

/// The page of a whole program in the macros of man(7), which `PROGRAM --man` prints: its section,
/// one for each command, and what all programs have in common.
std::string man_page(const std::string& program, const Program& fn);

}  // namespace farfield::cli
