#pragma once

#include <vector>

#include "apps/sweep/plan.h"

namespace farfield::sweep {

/// Checks, before any training, that each corpus is large enough for training sequences and for
/// measurements at their lengths. Runs each distinct measurement up to its first pass over a model.
/// `open`: checks only these cells, and skips data sets whose corpus does not exist yet.
///
/// Throws    IoError that names each experiment and measurement at fault, its need and the corpus's
///           size
void require_enough_text(const std::vector<Plan>& plans, const std::vector<Cell>& open);

}  // namespace farfield::sweep
