#include "apps/inspect/commands.h"

namespace farfield::inspect {

const std::vector<cli::Command>& inspect_commands() {
  static const std::vector<cli::Command> all = {
      {"attention", "test vectors: an attention problem with its gradients", inspect_attention},
      {"batches", "what a run reads in one training step: windows of the corpus and their tokens",
       inspect_batches},
      {"data", "what a corpus is, in any format: splits, tokenizer, documents, first tokens",
       inspect_data},
      {"encoding", "the tables, positions and frequencies of a positional encoding; the registry",
       inspect_encoding},
  };
  return all;
}

int inspect(int argc, const char* const* argv, std::ostream& out) {
  return cli::run_command("inspect",
                          "Shows what a positional encoding does, in float64, what a corpus is, "
                          "and what a training step "
                          "reads.",
                          inspect_commands(), argc, argv, out);
}

}  // namespace farfield::inspect
