#pragma once

#include <ostream>

#include "apps/sweep/folder.h"

namespace farfield::sweep {

/// Opens or makes the corpora that experiments read and that no --dataset names: `text` of what
/// this machine has, `topic` and `induction` as data/synthetic makes them, in the sweep's folder.
void ensure_corpora(SweepFolder& folder, std::ostream& out);

}  // namespace farfield::sweep
