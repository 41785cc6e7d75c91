#pragma once

#include <string>
#include <vector>

#include "apps/sweep/plan.h"

namespace farfield::sweep {

/// Seconds that so many multiply-adds are likely to take, on one core or one GPU.
double seconds_of(double work, bool is_card);
/// Multiply-adds of all cells, about.
double work_of(const std::vector<Cell>& cells);
/// The cost of making these cells: "2 models, 4 measurements: about 1.2e+11 floating-point
/// operations, 2 s on one core".
std::string cost_text(const std::vector<Cell>& cells, bool is_card);

}  // namespace farfield::sweep
