#include "apps/cli/own_output.h"

#include <iostream>
#include <sstream>

namespace farfield::cli {
namespace {

// Takes what std::cout is given, as long as it lives.
class TakenOutput {
 public:
  TakenOutput() : before_(std::cout.rdbuf(taken_.rdbuf())) {}
  ~TakenOutput() { std::cout.rdbuf(before_); }
  TakenOutput(const TakenOutput&) = delete;
  TakenOutput& operator=(const TakenOutput&) = delete;
  std::string text() const { return taken_.str(); }

 private:
  std::ostringstream taken_;
  std::streambuf* before_;
};

}  // namespace

std::string own_output(const Program& program, std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  const TakenOutput output;
  program(static_cast<int>(argv.size()), argv.data());
  return output.text();
}

}  // namespace farfield::cli
