// eval: measures trained models at lengths of your choice.

#include <iostream>

#include "apps/cli/options.h"
#include "apps/compare/program.h"

int main(int argc, char** argv) {
  return farfield::cli::run_main(argc, argv, [](int n, char** words) {
    return farfield::compare::eval_program(n, words, std::cout);
  });
}
