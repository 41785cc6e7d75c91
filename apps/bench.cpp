#include <iostream>

#include "apps/bench/commands.h"
#include "apps/cli/options.h"

int main(int argc, char** argv) {
  return farfield::cli::run_main(
      argc, argv, [](int n, char** words) { return farfield::bench::bench(n, words, std::cout); });
}
