#pragma once

#include <ostream>

namespace farfield::compare {

/// The program `eval`: measures trained models, or as `eval compare` sets finished measurements
/// side by side. argv[0] stands for its name; what it has to say goes to `out`, progress to stdout.
/// Returns the exit code.
int eval_program(int argc, const char* const* argv, std::ostream& out);

}  // namespace farfield::compare
