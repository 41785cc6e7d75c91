#pragma once

#include <ostream>

namespace farfield::apps {

/// The program `eval`: measures trained models. argv[0] stands for its name; what it has to say
/// goes to `out`, progress to stdout. Returns the exit code.
int eval_command(int argc, const char* const* argv, std::ostream& out);

}  // namespace farfield::apps
