// model: models of others, and runs as files.

#include <iostream>

#include "apps/cli/commands.h"
#include "apps/cli/options.h"
#include "apps/hub/import.h"

int main(int argc, char** argv) {
  return farfield::cli::run_main(argc, argv, [](int n, char** words) {
    return farfield::cli::run_command(
        "model", "Takes models of Hugging Face.",
        {{"import", "makes a run of a Hugging Face folder", farfield::hub::import_command}}, n,
        words, std::cout);
  });
}
