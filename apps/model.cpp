// model: lists trained models and shows what they are.

#include <iostream>

#include "apps/catalog/commands.h"
#include "apps/cli/commands.h"
#include "apps/cli/options.h"

int main(int argc, char** argv) {
  return farfield::cli::run_main(argc, argv, [](int n, char** words) {
    return farfield::cli::run_command(
        "model", "Lists trained models and shows what they are.",
        {
            {"list", "lists the runs below some folders: state, size, encoding, loss, perplexity",
             farfield::catalog::model_list},
            {"show", "shows one run: configuration, lineage, data, checkpoints, measurements",
             farfield::catalog::model_show},
        },
        n, words, std::cout);
  });
}
