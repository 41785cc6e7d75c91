// eval: measures trained models at lengths of your choice.

#include <iostream>

#include "apps/compare/program.h"
#include "apps/run/processes.h"

int main(int argc, char** argv) {
  return farfield::run::run_main(argc, argv, [](int n, char** words) {
    return farfield::compare::eval_program(n, words, std::cout);
  });
}
