#pragma once

#include <string>
#include <utility>
#include <vector>

namespace farfield::cli {

/// What this program was built from and with, as (name, value): version, commit, compiler, matrix
/// products, architecture, build type.
const std::vector<std::pair<std::string, std::string>>& build_facts();

/// What of the machine's processor this process uses, as (name, value): the highest instruction set
/// of matrix products, and how those of bfloat16 are computed.
const std::vector<std::pair<std::string, std::string>>& processor_facts();

/// Both as lines of text, the version first.
std::string version_text();

}  // namespace farfield::cli
