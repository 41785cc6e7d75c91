// eval: measures trained models at lengths of your choice.

#include <iostream>

#include "apps/cli.h"
#include "apps/eval_command.h"

int main(int argc, char** argv) {
  return farfield::apps::run_main(argc, argv, [](int n, char** words) {
    return farfield::apps::eval_command(n, words, std::cout);
  });
}
