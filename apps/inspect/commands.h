#pragma once

#include <ostream>
#include <vector>

#include "apps/cli/commands.h"

namespace farfield::inspect {

const std::vector<cli::Command>& inspect_commands();

/// The whole of `inspect`: picks the command named by argv[1] and runs it with what follows.
int inspect(int argc, const char* const* argv, std::ostream& out);

int inspect_attention(int argc, const char* const* argv, std::ostream& out);  // attention.cpp
int inspect_batches(int argc, const char* const* argv, std::ostream& out);    // batches.cpp
int inspect_data(int argc, const char* const* argv, std::ostream& out);       // data.cpp
int inspect_encoding(int argc, const char* const* argv, std::ostream& out);   // encoding.cpp

}  // namespace farfield::inspect
