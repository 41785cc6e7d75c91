// demo: the same model trained short under several positional encodings, then tested long.

#include <iostream>

#include "apps/demo/run.h"

using namespace farfield;

namespace {

int demo_program(int argc, char** argv) {
  demo::DemoOptions request;
  cli::Options options(
      "demo",
      "Trains the same small model with several positional encodings at one length and tests it "
      "at\nlonger ones. If you run it again, it continues where it stopped.");
  demo::add_options(options, request);
  bool json = false;
  add_json_option(options, json);
  if (!options.parse(argc, argv, std::cout)) return cli::kDone;
  cli::Printout page(std::cout, "demo", json);
  return demo::run_demo(request, page);
}

}  // namespace

int main(int argc, char** argv) { return cli::run_main(argc, argv, demo_program); }
