#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "apps/catalog/run_facts.h"

namespace farfield::catalog {

/// Commands of the program `model`. argv[0] is the command's name; results go to `out`.
int model_list(int argc, const char* const* argv, std::ostream& out);  // list.cpp
int model_show(int argc, const char* const* argv, std::ostream& out);  // show.cpp

/// The table of `model list`: a row for each run, a column for each of these lengths behind the
/// fixed ones. The row of a damaged run ends with its error.
std::string list_table(const std::vector<RunFacts>& runs, const std::vector<int64_t>& lengths);

}  // namespace farfield::catalog
