#include "tests/static_costs/baseline.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "apps/cli/csv.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "tests/static_costs/elements.h"
#include "tests/static_costs/fields.h"

namespace farfield::static_costs {
namespace {

constexpr std::string_view kHeader = "# nvcc ";

std::vector<std::string> columns() {
  std::vector<std::string> names = {"file",   "kernel", "sm",    "registers", "spill",
                                    "shared", "all",    "loops", "innermost"};
  for (int k = 0; k < kKinds; ++k) names.push_back(name_of(static_cast<Kind>(k)));
  names.insert(names.end(), {"whole", "each", "tile"});
  return names;
}

// "28:0:0:20:2:3:0:4:5", in the order of kinds.
std::string text_of(const Counts& counts) { return joined(counts, ":"); }

// A kernel's name is not enough: two overloads of a file have the same, and are told apart by their
// order.
using Name = std::tuple<std::string, std::string, int, int>;
std::map<Name, const KernelCosts*> by_name(const std::vector<KernelCosts>& kernels) {
  std::map<Name, const KernelCosts*> result;
  for (const KernelCosts& kernel : kernels) {
    int order = 0;
    while (!result.try_emplace({kernel.file, kernel.name, kernel.sm, order}, &kernel).second)
      ++order;
  }
  return result;
}

std::string kinds_of(const Counts& before, const Counts& now) {
  std::string text;
  for (size_t k = 0; k < before.size(); ++k)
    if (before[k] != now[k])
      text += concat(text.empty() ? "" : ", ", name_of(static_cast<Kind>(k)), ' ', before[k],
                     " to ", now[k]);
  return text;
}

}  // namespace

std::string to_csv(const Baseline& baseline) {
  std::string text = concat(kHeader, baseline.nvcc, '\n', cli::csv_row(columns()));
  for (const KernelCosts& kernel : baseline.kernels) {
    const CodeCosts code = kernel.code.value_or(CodeCosts{});
    std::vector<std::string> row = {kernel.file, kernel.name};
    for (const int64_t n :
         {int64_t{kernel.sm}, kernel.resources.registers, kernel.resources.spill_bytes,
          kernel.resources.shared_bytes, code.all, code.n_innermost, code.innermost})
      row.push_back(std::to_string(n));
    for (const int64_t n : code.in_loops) row.push_back(std::to_string(n));
    const bool is_kept = keeps_parts(kernel);
    row.push_back(is_kept ? text_of(code.whole) : "");
    row.push_back(is_kept ? joined(code.each, " ", text_of) : "");
    row.push_back(keeps_tile(kernel) ? text_of(code.tile) : "");
    text += cli::csv_row(row);
  }
  return text;
}

Baseline baseline_of(const std::string& name, std::string_view csv) {
  const size_t end = csv.find('\n');
  require<IoError>(csv.starts_with(kHeader) && end != std::string_view::npos, "static_costs", name,
                   ": expected '", kHeader, "RELEASE' in its first line");
  Baseline result = {.nvcc = std::string(csv.substr(kHeader.size(), end - kHeader.size()))};
  const auto rows = cli::parse_csv(name, csv.substr(end + 1));
  require<IoError>(!rows.empty() && rows[0] == columns(), "static_costs", name,
                   ": expected in line 2 the names of columns");
  constexpr size_t kByKind = 3;  // the last columns
  for (size_t i = 1; i < rows.size(); ++i) {
    const auto& row = rows[i];
    const Fields fields(name, i + 2, row, columns().size());
    std::vector<int64_t> numbers;
    for (size_t k = 2; k + kByKind < row.size(); ++k) numbers.push_back(fields.number(row[k]));
    CodeCosts code = {.all = numbers[4], .n_innermost = numbers[5], .innermost = numbers[6]};
    std::copy(numbers.begin() + 7, numbers.end(), code.in_loops.begin());
    const auto* const by_kind = &row[row.size() - kByKind];
    if (const std::string& whole = by_kind[0]; !whole.empty()) code.whole = fields.counts(whole);
    if (const std::string& each = by_kind[1]; !each.empty())
      for (const std::string_view loop : parts_of(each, ' '))
        code.each.push_back(fields.counts(loop));
    if (const std::string& tile = by_kind[2]; !tile.empty()) code.tile = fields.counts(tile);
    result.kernels.push_back({.file = row[0],
                              .name = row[1],
                              .sm = static_cast<int>(numbers[0]),
                              .resources = {numbers[1], numbers[2], numbers[3]},
                              .code = code});
  }
  return result;
}

Changes compare(const std::vector<KernelCosts>& before, const std::vector<KernelCosts>& now) {
  Changes changes;
  const auto old = by_name(before);
  int64_t n_found = 0;
  for (const auto& [name, kernel] : by_name(now)) {
    const auto found = old.find(name);
    if (found == old.end()) {
      ++changes.n_new;
      continue;
    }
    ++n_found;
    const KernelCosts& was = *found->second;
    const auto note = [&, k = kernel](const char* what, int64_t a, int64_t b,
                                      const std::string& by) {
      if (a == b) return;
      (b > a ? changes.grown : changes.shrunk)
          .push_back(concat(k->file, ": ", k->name, " for sm_", k->sm, ": ", what, ' ', a, " to ",
                            b, by.empty() ? "" : concat(" (", by, ')')));
    };
    note("registers", was.resources.registers, kernel->resources.registers, "");
    note("bytes of spills", was.resources.spill_bytes, kernel->resources.spill_bytes, "");
    note("bytes of shared memory", was.resources.shared_bytes, kernel->resources.shared_bytes, "");
    if (!was.code || !kernel->code) continue;
    note("instructions", was.code->all, kernel->code->all, "");
    note("instructions of innermost loops", was.code->innermost, kernel->code->innermost, "");
    note("instructions in loops", total(was.code->in_loops), total(kernel->code->in_loops),
         kinds_of(was.code->in_loops, kernel->code->in_loops));
  }
  changes.n_gone = static_cast<int64_t>(old.size()) - n_found;
  return changes;
}

std::vector<std::string> forbidden_spills(const std::vector<KernelCosts>& kernels) {
  // Kernels that go row by row spill a few bytes around divisions of 64 bits, which are calls.
  constexpr std::string_view kRowByRow = "attention_landmark.cu";
  std::vector<std::string> lines;
  for (const KernelCosts& kernel : kernels)
    if (kernel.resources.spill_bytes > 0 && kernel.file != kRowByRow &&
        (kernel.file.starts_with("attention_") || kernel.file == "softmax.cu" ||
         kernel.file == "cross_entropy.cu"))
      lines.push_back(concat(kernel.file, ": ", kernel.name, " for sm_", kernel.sm, ": ",
                             kernel.resources.spill_bytes, " bytes of spills"));
  return lines;
}

}  // namespace farfield::static_costs
