#pragma once

#include <string>
#include <vector>

#include "apps/sweep/measured.h"

namespace farfield::sweep {

/// Of a grid of the user's own: what its models were trained with, the expression behind each
/// label, and which numbers are of other lengths than it asks for now.
std::vector<std::string> own_facts(const Plan& plan, const Results& results);

/// Its encodings held against the reference by paired tests over seeds, as `eval compare` prints
/// them; where no two seeds are there, how to have them.
std::string own_tests(const Measured& m);

}  // namespace farfield::sweep
