#pragma once

#include "apps/compare/comparison.h"

namespace farfield::compare {

/// Compares each row of a comparison with its reference's row: fills in tests, marks, the number of
/// tests, notes on cells that could not be compared, and for protocol speed ratios.
void test_rows(Comparison& in);

}  // namespace farfield::compare
