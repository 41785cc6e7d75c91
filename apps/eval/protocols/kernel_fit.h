#pragma once

#include "apps/cli/options.h"
#include "apps/eval/subject.h"

namespace farfield::eval {

struct KernelFitOptions {
  int64_t points = 8192;  ///< distances 0 .. points - 1: the row of the paper's figure
};

void add_options(cli::Options& options, KernelFitOptions& own);
void check(const KernelFitOptions& own);

/// The line a ln(1 + d) + b nearest to the bias of each head of the model's encoding. Reads no
/// text. Distances that a mask hides are left out.
///
/// Throws    ConfigError bad_argument for a stand-in
/// Source    Chi, Fan, Rudnicky and Ramadge 2022, arXiv:2212.10356, section 6.2 and figure 9
ProtocolResult kernel_fit(const Subject& subject, const KernelFitOptions& own);

}  // namespace farfield::eval
