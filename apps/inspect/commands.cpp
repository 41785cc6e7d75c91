#include "apps/inspect/commands.h"

namespace farfield::inspect {

const std::vector<cli::Command>& inspect_commands() {
  static const std::vector<cli::Command> all = {
      {"attention", "makes test vectors: an attention problem with its gradients",
       inspect_attention},
      {"batches",
       "prints the data of one training step of a run: windows of the corpus and their tokens",
       inspect_batches},
      {"data", "describes a corpus in any format: splits, tokenizer, documents, first tokens",
       inspect_data},
      {"encoding",
       "prints tables, positions and frequencies of a positional encoding; lists all encodings",
       inspect_encoding},
  };
  return all;
}

int inspect(int argc, const char* const* argv, std::ostream& out) {
  return cli::run_command("inspect",
                          "Shows the numbers behind a positional encoding (in float64), a corpus, "
                          "and the data of a training step.",
                          inspect_commands(), argc, argv, out);
}

}  // namespace farfield::inspect
