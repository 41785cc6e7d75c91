#pragma once

#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "apps/cli/options.h"
#include "apps/generation/program.h"
#include "apps/train/training_run.h"
#include "tests/apps/toy_run.h"

namespace farfield::test {

/// The folder of a toy run with this configuration, trained to its end.
inline std::string trained(const run::RunConfig& config, const std::string& name) {
  const std::string path = toy().path(name);
  train::TrainingRun run = train::TrainingRun::start(run::resolve(config), path);
  std::ostringstream nowhere;
  cli::Progress progress(nowhere, false);
  BOOST_TEST_REQUIRE(run.go(progress) == cli::kDone);
  return path;
}

/// The one of an encoding, trained once.
inline const std::string& trained(const std::string& posenc) {
  static std::map<std::string, std::string> all;
  std::string& path = all[posenc];
  if (path.empty()) path = trained(toy().config(posenc), "run-" + std::to_string(all.size()));
  return path;
}

/// What the whole program generate made of a call: its exit code, stdout and stderr.
struct Said {
  int code;
  std::string out, err;
};

inline Said run_generate(std::vector<std::string> words, std::ostream* to = nullptr) {
  words.insert(words.begin(), "generate");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  std::ostringstream out, err;
  std::streambuf* const before = std::cerr.rdbuf(err.rdbuf());
  const int code =
      cli::run_main(static_cast<int>(argv.size()), argv.data(), [&](int n, char** all) {
        return generation::generate_program(n, all, to != nullptr ? *to : out);
      });
  std::cerr.rdbuf(before);
  return {code, out.str(), err.str()};
}

}  // namespace farfield::test
