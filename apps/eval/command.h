#pragma once

#include <ostream>

namespace farfield::eval {

/// `eval` without `compare`: measures trained models. argv[0] is its name; results go to `out`.
/// Returns the exit code.
int eval_command(int argc, const char* const* argv, std::ostream& out);

}  // namespace farfield::eval
