#pragma once

#include <ostream>
#include <vector>

#include "apps/cli/commands.h"

namespace farfield::bench {

const std::vector<cli::Command>& bench_commands();

/// The program `bench`: runs the command that argv[1] names, with the remaining arguments.
int bench(int argc, const char* const* argv, std::ostream& out);

int bench_attention(int argc, const char* const* argv, std::ostream& out);  // attention.cpp
int bench_bandwidth(int argc, const char* const* argv, std::ostream& out);  // bandwidth.cpp
int bench_forward(int argc, const char* const* argv, std::ostream& out);    // forward.cpp
int bench_generate(int argc, const char* const* argv, std::ostream& out);   // generate.cpp
int bench_matmul(int argc, const char* const* argv, std::ostream& out);     // matmul.cpp
int bench_roofline(int argc, const char* const* argv, std::ostream& out);   // roofline.cpp
int bench_scaling(int argc, const char* const* argv, std::ostream& out);    // scaling.cpp
int bench_step(int argc, const char* const* argv, std::ostream& out);       // step.cpp
int bench_tokenize(int argc, const char* const* argv, std::ostream& out);   // tokenize.cpp

}  // namespace farfield::bench
