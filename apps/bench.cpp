#include <iostream>

#include "apps/bench/commands.h"
#include "apps/run/processes.h"

int main(int argc, char** argv) {
  return farfield::run::run_main(
      argc, argv, [](int n, char** words) { return farfield::bench::bench(n, words, std::cout); });
}
