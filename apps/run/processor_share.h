#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace farfield::run {

/// The processors that a process may run on.
struct Processors {
  std::string host;  ///< tells their machine from others
  std::string mask;  ///< for each of the machine, by its number, '1' where it may
};

/// The processors that the system lets this process use.
Processors own_processors();

/// How many threads process `rank` of these should have, at least 1: each processor that it may run
/// on is shared evenly by all of its machine that may run there, and its shares are added up and
/// rounded down.
int64_t processor_share(const std::vector<Processors>& all, int rank);

/// How many processors of its machine process `rank` and the others there may run on.
int64_t n_used_processor(const std::vector<Processors>& all, int rank);

/// Of this machine.
int64_t n_processor();

}  // namespace farfield::run
