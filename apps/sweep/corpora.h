#pragma once

#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "apps/sweep/folder.h"

namespace farfield::sweep {

/// The corpora that plans read, that no --dataset names, and that do not exist yet.
std::set<std::string> missing_corpora(const SweepFolder& folder, const std::vector<Plan>& plans);
/// Makes them: `text` of what this machine has, `topic` and `induction` as data/synthetic makes
/// them, in the sweep's folder. Plans have to be made again afterwards. Interrupted after a signal.
void make_corpora(SweepFolder& folder, const std::set<std::string>& missing, std::ostream& out);

/// IoError, with a remedy, if the corpus of an open cell is missing: results may have come from
/// another machine without it.
void require_corpora(const SweepFolder& folder, const std::vector<Cell>& open);

}  // namespace farfield::sweep
