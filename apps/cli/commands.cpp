#include "apps/cli/commands.h"

#include "apps/cli/completion_words.h"
#include "apps/cli/man_page.h"
#include "apps/cli/options.h"
#include "apps/cli/version.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::cli {
namespace {

void print_help(const std::string& program, const std::string& summary,
                const std::vector<Command>& commands, std::ostream& out) {
  out << "usage: " << program << " COMMAND [options]\n\n" << summary << "\n\n";
  for (const Command& command : commands)
    out << "  " << command.name << std::string(12 - command.name.size(), ' ') << command.summary
        << '\n';
  out << "\n`" << program
      << " COMMAND --help` shows the options; --version says what this was built from.\n";
}

}  // namespace

int run_command(const std::string& program, const std::string& summary,
                const std::vector<Command>& commands, int argc, const char* const* argv,
                std::ostream& out) {
  const std::string word = argc > 1 ? argv[1] : "";
  if (word == "--help" || word == "-h") {
    print_help(program, summary, commands, out);
    return kDone;
  }
  if (word == "--version") {
    out << program << ' ' << version_text();
    return kDone;
  }
  if (asks_for_words(argc, argv)) {
    std::vector<CompletionWord> words = {{"--help", "", "list the commands"},
                                         {"--version", "", "print what this was built from"}};
    for (const Command& command : commands) words.push_back({command.name, "", command.summary});
    print_words(words, out);
    return kDone;
  }
  if (asks_for_man_section(argc, argv)) {
    ManSection section = {program, summary, {}, {}, {}};
    for (const Command& command : commands)
      section.commands.push_back({command.name, "", command.summary});
    print_man_section(section, out);
    return kDone;
  }
  std::vector<std::string> names;
  for (const Command& command : commands) {
    if (command.name == word) return command.run(argc - 1, argv + 1, out);
    names.push_back(command.name);
  }
  fail<ConfigError>(program, "expected a command out of ", joined(names), ", got '", word, "'",
                    did_you_mean(word, names), "; see ", program, " --help");
}

}  // namespace farfield::cli
