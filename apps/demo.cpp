// demo: the same model trained short under several positional encodings, then tested long.

#include <iostream>

#include "apps/demo_run.h"

using namespace farfield::apps;

namespace {

int demo(int argc, char** argv) {
  DemoOptions request;
  Options options("demo",
                  "Trains the same small model with several positional encodings at one length and "
                  "tests it at\nlonger ones. Run again, it continues where it stopped.");
  add_options(options, request);
  if (!options.parse(argc, argv, std::cout)) return kDone;
  return run_demo(request, std::cout);
}

}  // namespace

int main(int argc, char** argv) { return run_main(argc, argv, demo); }
