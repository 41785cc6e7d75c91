#pragma once

#include <ostream>

#include "apps/sweep/folder.h"

namespace farfield::sweep {

/// Opens or makes the corpora that plans read and that no --dataset names: `text` of what this
/// machine has, `topic` and `induction` as data/synthetic makes them, in the sweep's folder. Plans
/// have to be made again afterwards. Interrupted after a signal.
void ensure_corpora(SweepFolder& folder, const std::vector<Plan>& plans, std::ostream& out);

/// IoError, saying what to do, where the corpus of an open cell is not there: results may have come
/// from another machine without it.
void require_corpora(const SweepFolder& folder, const std::vector<Cell>& open);

}  // namespace farfield::sweep
