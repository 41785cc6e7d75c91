#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/static_costs/costs.h"

namespace farfield::static_costs {

/// The costs that are kept in the repository to compare with.
struct Baseline {
  std::string nvcc = {};  ///< release: numbers of another are not comparable
  std::vector<KernelCosts> kernels = {};
};

/// A line "# nvcc 13.0.88", then CSV: a row for each kernel and architecture. Counts by kind cover
/// all instructions; each innermost loop for kernels that keeps_parts() names; the loop over tiles
/// for kernels that keeps_tile() names.
std::string to_csv(const Baseline& baseline);
/// Throws    IoError that names the line which is not one of to_csv()
Baseline baseline_of(const std::string& name, std::string_view csv);

/// Changes of kernels against a baseline, as lines with kernel, old and new numbers.
struct Changes {
  std::vector<std::string> grown, shrunk;
  int64_t n_new = 0, n_gone = 0;  ///< kernels on one side alone
};
/// Compares instruction counts that both sides have: all instructions, instructions in loops and in
/// innermost loops. A larger number counts as grown, whatever else shrank.
Changes compare(const std::vector<KernelCosts>& before, const std::vector<KernelCosts>& now);

/// Kernels of attention, softmax and cross entropy that spill: a line each, whatever the baseline.
std::vector<std::string> forbidden_spills(const std::vector<KernelCosts>& kernels);

}  // namespace farfield::static_costs
