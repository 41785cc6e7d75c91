#include "apps/prepare/program.h"

#include "apps/cli/commands.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::prepare {
namespace {

const std::vector<cli::Command>& commands() {
  static const std::vector<cli::Command> all = {
      {"convert", "puts a corpus into another format", prepare_convert},
      {"synthetic", "makes a corpus of symbols that rewards a long context", prepare_synthetic},
      {"task", "prints samples of a synthetic task for length generalisation", prepare_task},
      {"tokenizer", "learns a tokenizer from text, or describes one", prepare_tokenizer},
  };
  return all;
}

void list_commands(std::ostream& out) {
  out << "\nCommands (`prepare COMMAND --help`):\n";
  for (const cli::Command& command : commands())
    out << "  " << command.name << std::string(12 - command.name.size(), ' ') << command.summary
        << '\n';
}

}  // namespace

int prepare_program(int argc, const char* const* argv, std::ostream& out) {
  const std::string word = argc > 1 ? argv[1] : "";
  for (const cli::Command& command : commands())
    if (word == command.name) return command.run(argc - 1, argv + 1, out);
  std::vector<std::string> names;
  for (const cli::Command& command : commands()) names.push_back(command.name);
  require<ConfigError>(word.empty() || word[0] == '-', "prepare", "expected options or a command (",
                       joined(names), "), got '", word, "'", did_you_mean(word, names),
                       "; a text is named with --input");
  const int code = prepare_corpus(argc, argv, out);
  if (word == "--help" || word == "-h") list_commands(out);
  return code;
}

}  // namespace farfield::prepare
