#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/static_costs/dynamic_shared.h"
#include "tests/static_costs/kinds.h"
#include "tests/static_costs/reports.h"
#include "tests/static_costs/sass.h"

namespace farfield::static_costs {

/// The instructions of a kernel.
struct CodeCosts {
  int64_t all = 0;  ///< run once, but for the loops: also what a loop became that was unrolled
  int64_t n_innermost = 0;  ///< loops that hold no other
  int64_t innermost = 0;    ///< instructions of these together
  Counts in_loops = {};     ///< of loops of any depth, each once; of all where there is no loop
  Counts whole = {};        ///< all of them
  Counts tile = {};         ///< of the smallest loop with tensor instructions; 0 without one
  std::vector<Counts> each = {};  ///< of each innermost loop, in the order of the code
};
CodeCosts code_costs(const std::vector<Instruction>& code);

/// Static facts about one kernel, compiled for one architecture.
struct KernelCosts {
  std::string file = {};  ///< "softmax.cu"
  std::string name = {};  ///< short_name()
  int sm = 0;
  Resources resources = {};
  std::optional<CodeCosts> code = {};        ///< where there is a disassembler
  std::optional<int64_t> n_thread = {};      ///< of a block, where there is a launch bound
  bool has_dynamic_shared = false;           ///< uses shared memory that the launch gives
  std::optional<LeastAndMost> dynamic = {};  ///< how much, where that is known
};

/// The kernels of all objects *.cu.o in a folder, by what ptxas left of each in *.cu.o.ptxas, in
/// order of file, name and architecture. Objects whose *.cu is not among `sources`, a folder, are
/// left of earlier builds. cuobjdump: that program, beside nvdisasm; "" where there is none.
///
/// Throws    IoError when there are no reports, when the disassembler fails, for an unknown kernel
std::vector<KernelCosts> gather(const std::filesystem::path& folder,
                                const std::filesystem::path& sources, const std::string& cuobjdump);

void add_dynamic_shared(std::vector<KernelCosts>& kernels, const DynamicShared& bytes);

/// The table for people. Blocks per multiprocessor for launches with the most shared memory, and
/// for launches with the least if that gives more blocks.
std::string table(const std::vector<KernelCosts>& kernels);

}  // namespace farfield::static_costs
