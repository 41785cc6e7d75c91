#pragma once

#include <string>

#include "apps/sweep/evidence.h"
#include "apps/sweep/measured.h"

namespace farfield::sweep {

/// Of an order between two arms that did not hold below `small`: notes how much of it is there at
/// L, where nothing is extrapolated, when that is most of it.
void explain_order(const Measured& m, Evidence& e, const std::string& a, const std::string& b);

}  // namespace farfield::sweep
