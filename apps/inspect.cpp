// inspect: shows what a positional encoding does.

#include <iostream>

#include "apps/cli/options.h"
#include "apps/inspect/commands.h"

int main(int argc, char** argv) {
  return farfield::cli::run_main(argc, argv, [](int n, char** words) {
    return farfield::inspect::inspect(n, words, std::cout);
  });
}
