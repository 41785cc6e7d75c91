#include <iostream>

#include "apps/bench/commands.h"
#include "apps/cli.h"

int main(int argc, char** argv) {
  return farfield::apps::run_main(
      argc, argv, [](int n, char** words) { return farfield::apps::bench(n, words, std::cout); });
}
