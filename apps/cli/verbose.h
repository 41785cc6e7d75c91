#pragma once

#include <string>

namespace farfield::cli {

/// --verbose: whether tables and summaries of this process hold what identifies their numbers too:
/// parameters, hashes, conventions.
void set_verbose(bool is_verbose);
bool is_verbose();

/// With --verbose ", hash 0123456789abcdef", else nothing.
std::string hash_remark(const std::string& hash);

}  // namespace farfield::cli
