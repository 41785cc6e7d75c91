#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace farfield::apps {

/// One thing that `bench` measures: its name, a line about it, and the program behind it. argv[0]
/// stands for the name; the tables go to `out`.
struct BenchCommand {
  std::string name, summary;
  int (*run)(int argc, const char* const* argv, std::ostream& out);
};
const std::vector<BenchCommand>& bench_commands();

/// The whole of `bench`: picks the command named by argv[1] and runs it with what follows.
int bench(int argc, const char* const* argv, std::ostream& out);

int bench_attention(int argc, const char* const* argv, std::ostream& out);  // attention.cpp
int bench_matmul(int argc, const char* const* argv, std::ostream& out);     // matmul.cpp
int bench_step(int argc, const char* const* argv, std::ostream& out);       // step.cpp

}  // namespace farfield::apps
