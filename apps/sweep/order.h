#pragma once

#include <string>

#include "apps/sweep/evidence.h"
#include "apps/sweep/measured.h"

namespace farfield::sweep {

/// For an order between two arms that does not hold below `small`: notes the part of the difference
/// that exists at L already, without extrapolation, if that is most of it.
void explain_order(const Measured& m, Evidence& e, const std::string& a, const std::string& b);

}  // namespace farfield::sweep
