#pragma once

#include <ostream>

namespace farfield::generation {

/// The program `generate`: continues a text with a trained model. The text goes to `out`, tokens
/// and speeds to cli::remarks(). Returns the exit code.
int generate_program(int argc, const char* const* argv, std::ostream& out);

}  // namespace farfield::generation
