#include "engine/comm/launch.h"

#include <memory>

#include "engine/base/error.h"
#include "engine/comm/mpi_transport.h"
#include "engine/comm/slurm.h"
#include "engine/comm/tcp_transport.h"

namespace farfield::comm {
namespace {

constexpr std::string_view kWhere = "processes";

constexpr int64_t kMost = 1 << 20;

// The rank and number of processes of a launch, on all machines and on this one.
struct Counts {
  int64_t rank, size, local_rank, local_size;
};

Launch launch_as(const std::string& starter, Launch::Handshake handshake, const Counts& n) {
  return {.handshake = n.size > 1 ? handshake : Launch::Handshake::none,
          .rank = static_cast<int>(n.rank),
          .size = static_cast<int>(n.size),
          .local_rank = static_cast<int>(n.local_rank),
          .local_size = static_cast<int>(n.local_size),
          .host = {},
          .port = 0,
          .store_key = {},
          .starter = starter};
}

uint16_t port_of(const Variables& v) {
  return static_cast<uint16_t>(v.number("MASTER_PORT", 1, 65535));
}

Launch by_mpirun(const Environment& environment) {
  const Variables v(environment, "mpirun");
  const int64_t size = v.number("OMPI_COMM_WORLD_SIZE", 1, kMost);
  return launch_as("mpirun", Launch::Handshake::mpi,
                   {.rank = v.number("OMPI_COMM_WORLD_RANK", 0, size - 1),
                    .size = size,
                    .local_rank = v.number_or("OMPI_COMM_WORLD_LOCAL_RANK", 0, size - 1),
                    .local_size = v.number_or("OMPI_COMM_WORLD_LOCAL_SIZE", 1, size)});
}

Launch by_variables(const Environment& environment) {
  const Variables v(environment, "torchrun");
  const int64_t size = v.number("WORLD_SIZE", 1, kMost);
  const bool is_torchrun = v.has("TORCHELASTIC_RUN_ID");
  Launch launch =
      launch_as(is_torchrun ? "torchrun" : "RANK and WORLD_SIZE", Launch::Handshake::tcp,
                {.rank = v.number("RANK", 0, size - 1),
                 .size = size,
                 .local_rank = v.number_or("LOCAL_RANK", 0, size - 1),
                 .local_size = v.number_or("LOCAL_WORLD_SIZE", 1, size)});
  if (size == 1) return launch;
  launch.host = v.text("MASTER_ADDR");
  launch.port = port_of(v);
  if (environment("TORCHELASTIC_USE_AGENT_STORE") == "True")
    launch.store_key = concat("farfield/", environment("TORCHELASTIC_RUN_ID").value_or(""), '/',
                              environment("TORCHELASTIC_RESTART_COUNT").value_or(""));
  return launch;
}

Launch by_srun(const Environment& environment) {
  const Variables v(environment, "srun");
  const int64_t size = v.number("SLURM_STEP_NUM_TASKS", 1, kMost);
  const std::string counts = "SLURM_STEP_TASKS_PER_NODE";
  Launch launch = launch_as(
      "srun", Launch::Handshake::tcp,
      {.rank = v.number("SLURM_PROCID", 0, size - 1),
       .size = size,
       .local_rank = v.number_or("SLURM_LOCALID", 0, size - 1),
       .local_size = v.has(counts)
                         ? tasks_of_node(v.text(counts), v.number_or("SLURM_NODEID", 0, kMost))
                         : 1});
  if (size == 1) return launch;
  if (has_mpi() && (v.has("PMIX_RANK") || v.has("PMI_RANK"))) {
    launch.handshake = Launch::Handshake::mpi;
    return launch;
  }
  launch.host =
      v.has("MASTER_ADDR") ? v.text("MASTER_ADDR") : first_host(v.text("SLURM_STEP_NODELIST"));
  launch.port = v.has("MASTER_PORT") ? port_of(v)
                                     : port_of_step(v.number("SLURM_JOB_ID", 0, UINT32_MAX),
                                                    v.number_or("SLURM_STEP_ID", 0, UINT32_MAX));
  return launch;
}

// An MPI that does not know its starter takes each process for the only one.
std::unique_ptr<Transport> world_of(const Launch& launch) {
  std::unique_ptr<Transport> world = start_mpi();
  require<ConfigError>(world->size() == launch.size && world->rank() == launch.rank, kWhere,
                       "expected process ", launch.rank, " of ", launch.size, " in MPI, as ",
                       launch.starter, " says, got ", world->rank(), " of ", world->size(), " in ",
                       world->name(), "; srun --mpi=pmix may start it, --mpi=none takes TCP");
  return world;
}

}  // namespace

Launch launch_of(const Environment& environment) {
  const auto has = [&](const char* name) { return environment(name).has_value(); };
  if (has("OMPI_COMM_WORLD_SIZE")) {
    const Launch launch = by_mpirun(environment);
    require<ConfigError>(launch.size == 1 || has_mpi(), kWhere,
                         "expected a program that was built with MPI, got one without, started by "
                         "mpirun; start its processes with RANK, WORLD_SIZE, MASTER_ADDR and "
                         "MASTER_PORT");
    return launch;
  }
  if (has("RANK") || has("WORLD_SIZE")) return by_variables(environment);
  if (has("SLURM_STEP_NUM_TASKS") && has("SLURM_PROCID")) return by_srun(environment);
  return {};
}

Communicator meet(const Launch& launch) {
  if (launch.handshake == Launch::Handshake::none) return {};
  if (launch.handshake == Launch::Handshake::mpi) return Communicator(world_of(launch));
  return Communicator(meet_by_tcp({.rank = launch.rank,
                                   .size = launch.size,
                                   .local_size = launch.local_size,
                                   .host = launch.host,
                                   .port = launch.port,
                                   .store_key = launch.store_key}));
}

}  // namespace farfield::comm
