#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "apps/compare/comparison.h"

namespace farfield::compare {

/// `eval compare`: compares finished measurements of several runs. argv[0] is its name; results go
/// to `out`. Returns the exit code: kFailed if there is nothing to compare.
int eval_compare(int argc, const char* const* argv, std::ostream& out);

/// The finished cells of a run folder; cells that differ only in their draw become their mean.
/// IoError for a folder that is no run, and for a damaged cell.
std::vector<RunCell> run_cells(const std::string& run);

}  // namespace farfield::compare
