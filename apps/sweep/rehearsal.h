#pragma once

#include <vector>

#include "apps/sweep/plan.h"

namespace farfield::sweep {

/// Refuses, before anything is trained, what a corpus does not suffice for: training sequences, and
/// measurements at their lengths. Each distinct measurement goes as far as to its first pass over a
/// model. `open`: only of these cells; data sets whose corpus is not there yet are left out.
///
/// Throws    IoError that names each experiment and measurement at fault, what it needs and what
///           there is
void require_enough_text(const std::vector<Plan>& plans, const std::vector<Cell>& open);

}  // namespace farfield::sweep
