// Static costs of the CUDA kernels, from their machine code: no card is needed. See
// README.md.
#include <cstdlib>
#include <iostream>

#include "apps/cli/options.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/static_costs/baseline.h"
#include "tests/static_costs/elements.h"

namespace farfield::static_costs {
namespace {

constexpr int kGrown = 1;

void print(const char* title, const std::vector<std::string>& lines) {
  if (!lines.empty()) std::cout << '\n' << title << '\n';
  for (const std::string& line : lines) std::cout << "  " << line << '\n';
}

int run(int argc, const char* const* argv) {
  std::string objects, sources, baseline_path, dynamic_path, nvcc, cuobjdump, table_path,
      renewal = "--renew";
  bool renews = false;
  cli::Options options("static_costs",
                       "Registers, spills, shared memory and the instructions of the innermost "
                       "loops of each CUDA kernel, held against a baseline.");
  options.add("objects", objects, "FOLDER", "where *.cu.o and *.cu.o.ptxas are")
      .add("sources", sources, "FOLDER", "where *.cu are")
      .add("baseline", baseline_path, "FILE", "CSV to compare with")
      .add("dynamic", dynamic_path, "FILE", "CSV of the shared memory that launches give")
      .add("nvcc", nvcc, "RELEASE", "what compiled them: 13.0.88")
      .add("cuobjdump", cuobjdump, "PATH",
           "of the disassembler, with nvdisasm beside it or on PATH; FARFIELD_CUOBJDUMP in the "
           "environment comes first")
      .add("table", table_path, "FILE", "write the table there, too")
      .add("renewal", renewal, "COMMAND", "the command that renews the baseline, for messages")
      .add("renew", renews, "write the baseline instead of comparing");
  if (!options.parse(argc, argv, std::cout)) return cli::kDone;
  if (const char* const given = std::getenv("FARFIELD_CUOBJDUMP")) cuobjdump = given;

  std::vector<KernelCosts> kernels = gather(objects, sources, cuobjdump);
  if (!dynamic_path.empty())
    add_dynamic_shared(kernels, dynamic_shared_of(dynamic_path, read_file(dynamic_path)));
  const std::string text = concat(table(kernels), '\n', element_table(kernels));
  std::cout << text;
  if (!table_path.empty()) write_file_atomic(table_path, text);
  std::cout << "\nall: instructions of a kernel; in loops: those run more than once, by kind, or "
               "all where there is no loop; +: and what a launch gives, the least and the most; "
               "blocks: with them; for an element: what a "
               "thread issues in a part of a kernel, by the elements that apps/bench/kernel_work.h "
               "says it takes there\n";
  if (renews) {
    require<ConfigError>(!cuobjdump.empty(), "static_costs",
                         "a baseline holds instructions: expected cuobjdump and nvdisasm on PATH "
                         "or by FARFIELD_CUOBJDUMP");
    write_file_atomic(baseline_path, to_csv({nvcc, kernels}));
    std::cout << baseline_path << ": " << kernels.size() << " kernels by nvcc " << nvcc << '\n';
    return cli::kDone;
  }

  const Baseline baseline = baseline_of(baseline_path, read_file(baseline_path));
  const bool is_comparable = baseline.nvcc == nvcc;
  const Changes changes = is_comparable ? compare(baseline.kernels, kernels) : Changes();
  const std::vector<std::string> spills = forbidden_spills(kernels);
  print("shrunk:", changes.shrunk);
  print("expected no more than the baseline says, got", changes.grown);
  print("expected no spills, got", spills);
  const bool has_grown = !changes.grown.empty(), has_others = changes.n_new + changes.n_gone > 0;
  if (has_others)
    std::cout << changes.n_new << " kernels are not in the baseline, " << changes.n_gone
              << " of it are no more: not judged\n";
  if (has_grown || has_others || !changes.shrunk.empty())
    std::cout << (has_grown ? "if this is meant, renew the baseline: "
                            : "the baseline can be renewed: ")
              << renewal << '\n';
  std::cout << kernels.size() << " kernels, " << changes.grown.size() << " numbers grown, "
            << changes.shrunk.size() << " shrunk, " << spills.size() << " forbidden spills\n";
  const bool fails = has_grown || !spills.empty();
  // Said as CTest shows it, unless that would hide a failure.
  const char* const skipped = fails ? "" : "skipped: ";
  if (!is_comparable)
    std::cout << skipped << "not judged against the baseline: nvcc " << nvcc << " here, "
              << baseline.nvcc << " in the baseline\n";
  else if (cuobjdump.empty())
    std::cout << skipped
              << "instructions are not judged, the rest is: no cuobjdump on PATH, beside "
              << "nvcc or by FARFIELD_CUOBJDUMP\n";
  return fails ? kGrown : cli::kDone;
}

}  // namespace
}  // namespace farfield::static_costs

int main(int argc, char** argv) {
  return farfield::cli::run_main(
      argc, argv, [](int n, char** words) { return farfield::static_costs::run(n, words); });
}
