// generate: continues a text with a trained model.

#include <iostream>

#include "apps/cli/options.h"
#include "apps/generation/program.h"

int main(int argc, char** argv) {
  return farfield::cli::run_main(argc, argv, [](int n, char** words) {
    return farfield::generation::generate_program(n, words, std::cout);
  });
}
