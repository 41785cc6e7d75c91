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

/// A line "# nvcc 13.0.88", then CSV: a row for each kernel and architecture. By kind there are all
/// instructions, and those of each innermost loop, of kernels that keeps_parts() names; those of
/// the loop over tiles, of kernels that keeps_tile() names.
std::string to_csv(const Baseline& baseline);
/// Throws    IoError that names the line which is not one of to_csv()
Baseline baseline_of(const std::string& name, std::string_view csv);

/// What became of the kernels of a baseline, as lines that name kernel, old and new numbers.
struct Changes {
  std::vector<std::string> grown, shrunk;
  int64_t n_new = 0, n_gone = 0;  ///< kernels on one side alone
};
/// Instructions are compared where both sides have them: all, those in loops and those of innermost
/// loops. A number that is larger is grown, whatever else shrank.
Changes compare(const std::vector<KernelCosts>& before, const std::vector<KernelCosts>& now);

/// Kernels of attention, softmax and cross entropy that spill: a line each, whatever the baseline.
std::vector<std::string> forbidden_spills(const std::vector<KernelCosts>& kernels);

}  // namespace farfield::static_costs
