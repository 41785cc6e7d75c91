#include "apps/bench/commands.h"

#include <algorithm>

#include "apps/cli.h"
#include "apps/version.h"
#include "engine/base/error.h"

namespace farfield::apps {
namespace {

void print_help(std::ostream& out) {
  out << "usage: bench COMMAND [options]\n\n"
         "Measures this build on this machine. Every figure stands beside a peak measured in the "
         "same run.\n\n";
  for (const BenchCommand& command : bench_commands())
    out << "  " << command.name << std::string(12 - command.name.size(), ' ') << command.summary
        << '\n';
  out << "\n`bench COMMAND --help` shows the options; --version says what this was built from.\n";
}

}  // namespace

const std::vector<BenchCommand>& bench_commands() {
  static const std::vector<BenchCommand> all = {
      {"attention", "the attention op by length and encoding: time, memory", bench_attention},
      {"matmul", "the matrix products of a training step, one by one", bench_matmul},
      {"step", "whole training steps by preset and encoding: time, memory", bench_step},
  };
  return all;
}

int bench(int argc, const char* const* argv, std::ostream& out) {
  const std::string word = argc > 1 ? argv[1] : "";
  if (word == "--help") {
    print_help(out);
    return kDone;
  }
  if (word == "--version") {
    out << version_text();
    return kDone;
  }
  std::vector<std::string> names;
  for (const BenchCommand& command : bench_commands()) {
    if (command.name == word) return command.run(argc - 1, argv + 1, out);
    names.push_back(command.name);
  }
  fail<ConfigError>("bench", "expected a command out of attention, matmul, step, got '", word, "'",
                    did_you_mean(word, names), "; see bench --help");
}

}  // namespace farfield::apps
