#pragma once

#include "apps/compare/comparison.h"

namespace farfield::compare {

/// Holds each row of a comparison against that of its reference: fills in tests, marks, their count
/// and notes on what could not be compared, and for protocol speed ratios.
void test_rows(Comparison& in);

}  // namespace farfield::compare
