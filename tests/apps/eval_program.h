#pragma once

#include <boost/test/unit_test.hpp>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "apps/cli/options.h"
#include "apps/compare/program.h"
#include "apps/train/training_run.h"
#include "tests/apps/toy_run.h"

namespace farfield::test {

/// The folder of a new run of the toy configuration, trained to its end.
inline std::string trained_toy(const std::string& posenc, const std::string& name) {
  const std::string path = toy().path(name);
  train::TrainingRun run = train::TrainingRun::start(run::resolve(toy().config(posenc)), path);
  std::ostringstream nowhere;
  cli::Progress progress(nowhere, false);
  BOOST_TEST_REQUIRE(run.go(progress) == cli::kDone);
  return path;
}

/// What the whole program eval made of a call: its exit code, and what it said on stdout and
/// stderr.
struct Said {
  int code;
  std::string out, err;
};

inline Said run_eval(std::vector<std::string> words) {
  words.insert(words.begin(), "eval");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  std::ostringstream out, err;
  std::streambuf* const before = std::cerr.rdbuf(err.rdbuf());
  const int code =
      cli::run_main(static_cast<int>(argv.size()), argv.data(),
                    [&](int n, char** all) { return compare::eval_program(n, all, out); });
  std::cerr.rdbuf(before);
  return {code, out.str(), err.str()};
}

}  // namespace farfield::test
