// sweep: runs the experiments of the papers and reports them beside the printed numbers.

#include <iostream>

#include "apps/cli/options.h"
#include "apps/sweep/commands.h"

int main(int argc, char** argv) {
  return farfield::cli::run_main(argc, argv, [](int n, char** words) {
    return farfield::sweep::sweep_program(n, words, std::cout);
  });
}
