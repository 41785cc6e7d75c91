#pragma once

#include <string>
#include <utility>
#include <vector>

namespace farfield::apps {

/// What this program was built from and with, as (name, value): version, commit, compiler, matrix
/// products, architecture, build type.
const std::vector<std::pair<std::string, std::string>>& build_facts();

/// The same as lines of text, the version first.
std::string version_text();

}  // namespace farfield::apps
