#pragma once

#include <string>
#include <vector>

#include "apps/sweep/measured.h"

namespace farfield::sweep {

/// For a grid of the user's own: the training settings of its models, the expression of each label,
/// and numbers at lengths that the grid does not ask for any more.
std::vector<std::string> own_facts(const Plan& plan, const Results& results);

/// Paired tests of its encodings against the reference over seeds, as `eval compare` prints them;
/// with fewer than two seeds, a hint how to get more.
std::string own_tests(const Measured& m);

}  // namespace farfield::sweep
