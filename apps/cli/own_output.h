#pragma once

#include <functional>
#include <string>
#include <vector>

namespace farfield::cli {

/// What main() hands to run_main().
using Program = std::function<int(int argc, char** argv)>;

/// What a program prints to std::cout when it is called with these words, its name the first.
std::string own_output(const Program& program, std::vector<std::string> words);

}  // namespace farfield::cli
