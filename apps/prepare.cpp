// prepare: turns text into a corpus, converts corpora, trains tokenizers.

#include <iostream>

#include "apps/cli/options.h"
#include "apps/prepare/program.h"

int main(int argc, char** argv) {
  return farfield::cli::run_main(argc, argv, [](int n, char** words) {
    return farfield::prepare::prepare_program(n, words, std::cout);
  });
}
