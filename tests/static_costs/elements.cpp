#include "tests/static_costs/elements.h"

#include <algorithm>

#include "apps/cli/text_table.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::static_costs {
namespace {

using bench::KernelWork;
using bench::kKernelWork;

bool is_about(const KernelWork& work, const KernelCosts& kernel) {
  return kernel.sm == 90 && work.file == kernel.file && work.kernel == kernel.name;
}

std::string name_of_part(int part) {
  return part == bench::kWhole      ? "whole"
         : part == bench::kOutside  ? "outside loops"
         : part == bench::kWayTaken ? "way taken"
                                    : concat("loop ", part);
}

}  // namespace

bool keeps_parts(const KernelCosts& kernel) {
  return std::any_of(std::begin(kKernelWork), std::end(kKernelWork), [&](const KernelWork& work) {
    return work.part != bench::kWayTaken && is_about(work, kernel);
  });
}

bool keeps_tile(const KernelCosts& kernel) {
  return std::any_of(std::begin(kKernelWork), std::end(kKernelWork), [&](const KernelWork& work) {
    return work.part == bench::kWayTaken && is_about(work, kernel);
  });
}

std::optional<Counts> counts_of(const KernelCosts& kernel, int part) {
  if (!kernel.code || part == bench::kWayTaken) return {};
  const CodeCosts& code = *kernel.code;
  if (part >= 0)
    return static_cast<size_t>(part) < code.each.size() ? std::optional(code.each[part])
                                                        : std::nullopt;
  Counts counts = code.whole;
  if (part == bench::kOutside)
    for (const Counts& loop : code.each)
      for (size_t k = 0; k < counts.size(); ++k) counts[k] -= loop[k];
  return counts;
}

const KernelCosts* kernel_of(const KernelWork& work, const std::vector<KernelCosts>& kernels) {
  const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const KernelCosts& kernel) {
    return is_about(work, kernel);
  });
  return found == kernels.end() ? nullptr : &*found;
}

std::string element_table(const std::vector<KernelCosts>& kernels) {
  std::vector<std::vector<std::string>> rows = {
      {"for an element, sm_90", "part", "elements", "all"}};
  for (int k = 0; k < kKinds; ++k) rows[0].push_back(name_of(static_cast<Kind>(k)));
  for (const KernelWork& work : kKernelWork) {
    rows.push_back(
        {concat(work.name, ": ", work.kernel), name_of_part(work.part), shortest(work.n_element)});
    auto& row = rows.back();
    const auto add = [&](double n) { row.push_back(fixed(n / work.n_element, 2)); };
    const KernelCosts* const kernel = kernel_of(work, kernels);
    if (work.part == bench::kWayTaken) {
      add(work.instructions);
      add(work.fp32);
    } else if (const auto counts = kernel ? counts_of(*kernel, work.part) : std::nullopt) {
      add(static_cast<double>(total(*counts)));
      for (const int64_t n : *counts) add(static_cast<double>(n));
    }
    row.resize(rows[0].size(), "-");
  }
  return cli::text_table(rows, 2);
}

}  // namespace farfield::static_costs
