#pragma once

#include <string>

namespace farfield::cli {

/// A word as a POSIX shell reads it back, quoted where it has to be.
std::string shell_word(const std::string& word);

}  // namespace farfield::cli
