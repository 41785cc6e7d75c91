#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/static_costs/x86.h"

namespace farfield::static_costs {

/// Moves of whole vector registers to the stack and back.
struct Moves {
  int64_t all = 0;
  int64_t in_loops = 0;  ///< to the stack, in innermost loops: not what fetches a constant
};

/// What a file may have at most, and must have at least.
struct MoveLimits {
  Moves most = {};
  int64_t least_products = 0;  ///< ObjectMoves::n_product
};

/// What is counted of an object file of the CPU's kernels.
struct ObjectMoves {
  std::string file = {};  ///< "norm.cpp"
  std::string name = {};  ///< with the folder of the object, which may be there for several targets
  Moves moves = {};
  int64_t n_product = 0;                 ///< vectors multiplied, in innermost loops
  int64_t n_block = 0;                   ///< register blocks: functions called multiply_block
  std::vector<std::string> broken = {};  ///< those whose sums do not stay in registers, and why
};

/// Of its disassembly. The sums of a register block stay in registers when its loop multiplies
/// vectors, and the function neither moves one to the stack nor calls another function.
ObjectMoves moves_of(const std::filesystem::path& object,
                     const std::vector<HostFunction>& functions);

/// The limits of each file, by name. CSV with the columns file, moves, in_loops, least_products.
/// Throws    IoError that names the line which is not one
std::map<std::string, MoveLimits> limits_of(const std::string& name, std::string_view csv);

/// The table for people.
std::string table(const std::vector<ObjectMoves>& objects,
                  const std::map<std::string, MoveLimits>& limits);

/// What is beyond its limit, and broken register blocks: a line each. A file without a limit is
/// judged by its register blocks alone.
std::vector<std::string> failures(const std::vector<ObjectMoves>& objects,
                                  const std::map<std::string, MoveLimits>& limits);

}  // namespace farfield::static_costs
