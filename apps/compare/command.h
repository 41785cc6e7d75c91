#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "apps/compare/comparison.h"

namespace farfield::compare {

/// `eval compare`: sets finished measurements of several runs side by side. argv[0] stands for its
/// name; what it has to say goes to `out`. Returns the exit code: kFailed when there is nothing to
/// compare.
int eval_compare(int argc, const char* const* argv, std::ostream& out);

/// The finished cells of a run folder, those of several draws of one thing as their mean. IoError
/// for what is no run, and for a damaged cell.
std::vector<RunCell> run_cells(const std::string& run);

}  // namespace farfield::compare
