#pragma once

#include <ostream>

namespace farfield::compare {

/// The program `eval`: measures trained models, or as `eval compare` compares finished
/// measurements. argv[0] is its name; results go to `out`. Returns the exit code.
int eval_program(int argc, const char* const* argv, std::ostream& out);

}  // namespace farfield::compare
