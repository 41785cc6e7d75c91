#pragma once

#include <ostream>

namespace farfield::eval {

/// `eval` without `compare`: measures trained models. argv[0] stands for its name; what it has to
/// say goes to `out`, progress to stdout. Returns the exit code.
int eval_command(int argc, const char* const* argv, std::ostream& out);

}  // namespace farfield::eval
