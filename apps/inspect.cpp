// inspect: shows what a positional encoding does.

#include <iostream>

#include "apps/cli.h"
#include "apps/inspect/commands.h"

int main(int argc, char** argv) {
  return farfield::apps::run_main(
      argc, argv, [](int n, char** words) { return farfield::apps::inspect(n, words, std::cout); });
}
