#pragma once

#include <vector>

#include "apps/cli/completion_words.h"

namespace farfield::cli {

/// The options of every program, with their dashes, which a file cannot give.
const std::vector<CompletionWord>& general_options();

/// Whether it is one of them, without the dashes.
bool is_general_option(const std::string& name);

}  // namespace farfield::cli
