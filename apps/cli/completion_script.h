#pragma once

#include <string>
#include <vector>

#include "apps/cli/completion_words.h"

namespace farfield::cli {

/// A script that completes the words of a program in bash or zsh: commands, options, and values
/// where an option names them ("fp32|bf16") or takes a path. It never runs the program.
/// Throws    ConfigError for another shell
std::string completion_script(const std::string& shell, const std::string& program,
                              const std::vector<CompletionTable>& tables);

}  // namespace farfield::cli
