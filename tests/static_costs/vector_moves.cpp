// Whether the CPU's kernels keep their vectors in registers, by what this compiler made of them.
// See README.md.
#include <algorithm>
#include <iostream>

#include "apps/cli/options.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/parallel.h"
#include "tests/static_costs/disassembler.h"
#include "tests/static_costs/moves.h"

namespace farfield::static_costs {
namespace {

constexpr int kExceeded = 1;

int run(int argc, const char* const* argv) {
  std::vector<std::string> paths;
  std::string limits_path, objdump;
  cli::Options options(
      "vector_moves",
      "Moves of whole vector registers to and from the stack in the objects of the "
      "CPU's kernels, and products of vectors in their loops, held against limits.");
  options.add("limits", limits_path, "FILE", "CSV of the limits of each file")
      .add("objdump", objdump, "PATH", "of the disassembler")
      .add_positional("objects", paths, "object files");
  if (!options.parse(argc, argv, std::cout)) return cli::kDone;

  std::vector<ObjectMoves> objects(paths.size());
  std::vector<int64_t> n_multiply(paths.size());
  parallel_for(static_cast<int64_t>(paths.size()), [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    const auto functions = read_x86(output_of(objdump, "-d -C -w --no-show-raw-insn", paths[at]));
    objects[at] = moves_of(paths[at], functions);
    for (const HostFunction& function : functions)
      n_multiply[at] += function.count(HostKind::multiply);
  });
  const auto limits = limits_of(limits_path, read_file(limits_path));
  std::cout << table(objects, limits)
            << "\nmoves: of ymm and zmm to and from the stack, copies of structures among them; in "
               "loops: "
               "to the stack, in loops that hold no other; products: of vectors, in the same "
               "loops\n";
  if (std::all_of(n_multiply.begin(), n_multiply.end(), [](int64_t n) { return n == 0; })) {
    std::cout << "skipped: these objects are for a processor without AVX2 and FMA\n";
    return cli::kDone;
  }
  const std::vector<std::string> lines = failures(objects, limits);
  for (const std::string& line : lines) std::cout << line << '\n';
  std::cout << objects.size() << " objects, " << lines.size() << " failures\n";
  return lines.empty() ? cli::kDone : kExceeded;
}

}  // namespace
}  // namespace farfield::static_costs

int main(int argc, char** argv) {
  return farfield::cli::run_main(
      argc, argv, [](int n, char** words) { return farfield::static_costs::run(n, words); });
}
