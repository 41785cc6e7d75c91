#pragma once

#include <string>
#include <utility>
#include <vector>

namespace farfield::cli {

/// Facts about this build, as (name, value): version, commit, compiler, matrix products,
/// architecture, build type.
const std::vector<std::pair<std::string, std::string>>& build_facts();

/// The day of the commit, "2026-11-28"; empty where the build did not know it.
const char* commit_day();

/// Features of the processor that this process uses, as (name, value): the highest instruction set
/// of matrix products, and how bfloat16 products are computed.
const std::vector<std::pair<std::string, std::string>>& processor_facts();

/// Both as lines of text, the version first.
std::string version_text();

}  // namespace farfield::cli
