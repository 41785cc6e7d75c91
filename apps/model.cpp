// model: lists trained models, shows them, and exchanges them with Hugging Face.

#include <iostream>

#include "apps/catalog/commands.h"
#include "apps/cli/commands.h"
#include "apps/cli/options.h"
#include "apps/hub/export.h"
#include "apps/hub/import.h"

int main(int argc, char** argv) {
  return farfield::cli::run_main(argc, argv, [](int n, char** words) {
    return farfield::cli::run_command(
        "model", "Lists trained models, shows what they are, and exchanges them with Hugging Face.",
        {
            {"export", "makes a Hugging Face folder of a run", farfield::hub::export_command},
            {"import", "makes a run of a Hugging Face folder", farfield::hub::import_command},
            {"list", "lists the runs below some folders: state, size, encoding, loss, perplexity",
             farfield::catalog::model_list},
            {"show", "shows one run: configuration, lineage, data, checkpoints, measurements",
             farfield::catalog::model_show},
        },
        n, words, std::cout);
  });
}
