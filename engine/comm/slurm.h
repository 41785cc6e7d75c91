#pragma once

#include <cstdint>
#include <string>

namespace farfield::comm {

// srun's variables about a step: see "OUTPUT ENVIRONMENT VARIABLES" of srun(1).

/// The first host of a list of nodes (SLURM_STEP_NODELIST), on which process 0 of the step runs:
/// "gpu017" of "gpu[017-018,020],login", "r1n03" of "r[1-2]n[03-04]-ib". ConfigError where that
/// host is not written so.
std::string first_host(const std::string& nodes);

/// How many tasks the node of that number has, from 0, by SLURM_STEP_TASKS_PER_NODE: "2(x3),1" are
/// 2, 2, 2 and 1. ConfigError where it says nothing of that node.
int tasks_of_node(const std::string& counts, int64_t node);

/// The port at which process 0 of a step listens, which all its processes know from its number.
/// Steps of one job have different ports, unless it has thousands of them.
uint16_t port_of_step(int64_t job, int64_t step);

}  // namespace farfield::comm
