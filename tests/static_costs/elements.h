#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/bench/kernel_work.h"
#include "tests/static_costs/costs.h"

namespace farfield::static_costs {

/// Whether the baseline keeps the parts of a kernel: true if bench::kKernelWork gives their
/// elements.
bool keeps_parts(const KernelCosts& kernel);
/// Whether its loop over tiles is kept there: where the way taken was counted by hand.
bool keeps_tile(const KernelCosts& kernel);

/// The instructions of a part of kernel, by kind; nothing for a loop that it does not have, and for
/// what is counted by hand.
std::optional<Counts> counts_of(const KernelCosts& kernel, int part);

/// The kernel of a row, for sm_90; null if it is missing.
const KernelCosts* kernel_of(const bench::KernelWork& work,
                             const std::vector<KernelCosts>& kernels);

/// What a thread issues for an element, by kind: the table for people.
std::string element_table(const std::vector<KernelCosts>& kernels);

}  // namespace farfield::static_costs
