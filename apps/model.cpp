// model: models of others, and runs as files.

#include <iostream>

#include "apps/cli/commands.h"
#include "apps/cli/options.h"
#include "apps/hub/export.h"
#include "apps/hub/import.h"

int main(int argc, char** argv) {
  return farfield::cli::run_main(argc, argv, [](int n, char** words) {
    return farfield::cli::run_command(
        "model", "Takes models of Hugging Face, and makes them of runs.",
        {{"import", "makes a run of a Hugging Face folder", farfield::hub::import_command},
         {"export", "makes a Hugging Face folder of a run", farfield::hub::export_command}},
        n, words, std::cout);
  });
}
