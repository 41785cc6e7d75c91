#include "engine/comm/launch.h"

#include <charconv>
#include <cstdlib>

#include "engine/base/error.h"
#include "engine/comm/mpi_transport.h"
#include "engine/comm/tcp_transport.h"

namespace farfield::comm {
namespace {

constexpr std::string_view kWhere = "processes";

int number_of(const std::string& name, const std::string& text, int least, int most) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  require<ConfigError>(error == std::errc() && at == end && value >= least && value <= most, kWhere,
                       name, ": expected a number from ", least, " to ", most, ", got '", text,
                       "'");
  return value;
}

class Variables {
 public:
  explicit Variables(const Environment& environment) : environment_(environment) {}

  bool has(const std::string& name) const { return environment_(name).has_value(); }
  std::string text(const std::string& name) const {
    const auto value = environment_(name);
    require<ConfigError>(value.has_value() && !value->empty(), kWhere, name,
                         ": expected it to be set beside RANK and WORLD_SIZE, got nothing");
    return *value;
  }
  int number(const std::string& name, int least, int most) const {
    return number_of(name, text(name), least, most);
  }
  int number_or(const std::string& name, int otherwise, int most) const {
    return has(name) ? number(name, 0, most) : otherwise;
  }

 private:
  const Environment& environment_;
};

constexpr int kMost = 1 << 20;

Launch by_mpirun(const Variables& v) {
  const int size = v.number("OMPI_COMM_WORLD_SIZE", 1, kMost);
  return {.handshake = size > 1 ? Launch::Handshake::mpi : Launch::Handshake::none,
          .rank = v.number("OMPI_COMM_WORLD_RANK", 0, size - 1),
          .size = size,
          .local_rank = v.number_or("OMPI_COMM_WORLD_LOCAL_RANK", 0, size - 1),
          .local_size = v.number_or("OMPI_COMM_WORLD_LOCAL_SIZE", 1, size),
          .host = {},
          .port = 0,
          .starter = "mpirun"};
}

Launch by_variables(const Variables& v) {
  const int size = v.number("WORLD_SIZE", 1, kMost);
  Launch launch = {.handshake = size > 1 ? Launch::Handshake::tcp : Launch::Handshake::none,
                   .rank = v.number("RANK", 0, size - 1),
                   .size = size,
                   .local_rank = v.number_or("LOCAL_RANK", 0, size - 1),
                   .local_size = v.number_or("LOCAL_WORLD_SIZE", 1, size),
                   .host = {},
                   .port = 0,
                   .starter = "RANK and WORLD_SIZE"};
  if (size == 1) return launch;
  launch.host = v.text("MASTER_ADDR");
  launch.port = static_cast<uint16_t>(v.number("MASTER_PORT", 1, 65535));
  return launch;
}

// Tasks of the node of that number, from 0: "2(x3),1" are 2, 2, 2 and 1.
int tasks_of_node(const std::string& text, int node) {
  const std::string name = "SLURM_STEP_TASKS_PER_NODE";
  for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(',', begin);
    const std::string entry = text.substr(begin, end - begin);
    const size_t times = entry.find("(x");
    const int n_tasks = number_of(name, entry.substr(0, times), 1, kMost);
    if (times == std::string::npos) {
      if (node-- == 0) return n_tasks;
      continue;
    }
    require<ConfigError>(entry.back() == ')', kWhere, name, ": expected 2(x3),1 or the like, got '",
                         text, "'");
    const int n_nodes =
        number_of(name, entry.substr(times + 2, entry.size() - times - 3), 1, kMost);
    if (node < n_nodes) return n_tasks;
    node -= n_nodes;
  }
  fail<ConfigError>(kWhere, name, ": expected an entry for the node SLURM_NODEID, got '", text,
                    "'");
}

Launch by_srun(const Variables& v) {
  const int size = v.number("SLURM_STEP_NUM_TASKS", 1, kMost);
  Launch launch = {.handshake = Launch::Handshake::none,
                   .rank = v.number("SLURM_PROCID", 0, size - 1),
                   .size = size,
                   .local_rank = v.number_or("SLURM_LOCALID", 0, size - 1),
                   .local_size = v.has("SLURM_STEP_TASKS_PER_NODE")
                                     ? tasks_of_node(v.text("SLURM_STEP_TASKS_PER_NODE"),
                                                     v.number_or("SLURM_NODEID", 0, kMost))
                                     : 1,
                   .host = {},
                   .port = 0,
                   .starter = "srun"};
  if (size == 1) return launch;
  if (has_mpi() && (v.has("PMIX_RANK") || v.has("PMI_RANK"))) {
    launch.handshake = Launch::Handshake::mpi;
    return launch;
  }
  // Process 0 runs on the first node of the step. Steps of one job have ports of their own.
  launch.handshake = Launch::Handshake::tcp;
  const std::string nodes = v.text("SLURM_STEP_NODELIST");
  const size_t open = nodes.find('[');
  launch.host = open == std::string::npos
                    ? nodes.substr(0, nodes.find(','))
                    : nodes.substr(0, open) +
                          nodes.substr(open + 1, nodes.find_first_of(",-]", open) - open - 1);
  constexpr int kFirstPort = 20'000, kPorts = 10'000;
  const int64_t job = v.number("SLURM_JOB_ID", 0, INT32_MAX);
  const int64_t step = v.number_or("SLURM_STEP_ID", 0, INT32_MAX);
  launch.port = static_cast<uint16_t>(kFirstPort + (job * 7 + step) % kPorts);
  return launch;
}

}  // namespace

Environment environment_of_process() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

Launch launch_of(const Environment& environment) {
  const Variables v(environment);
  if (v.has("OMPI_COMM_WORLD_SIZE")) {
    const Launch launch = by_mpirun(v);
    require<ConfigError>(launch.size == 1 || has_mpi(), kWhere,
                         "expected a program that was built with MPI, got one without, started by "
                         "mpirun; start its processes with RANK, WORLD_SIZE, MASTER_ADDR and "
                         "MASTER_PORT");
    return launch;
  }
  if (v.has("RANK") || v.has("WORLD_SIZE")) return by_variables(v);
  if (v.has("SLURM_STEP_NUM_TASKS") && v.has("SLURM_PROCID")) return by_srun(v);
  return {};
}

Communicator meet(const Launch& launch) {
  if (launch.handshake == Launch::Handshake::none) return {};
  if (launch.handshake == Launch::Handshake::mpi) return Communicator(start_mpi());
  return Communicator(meet_by_tcp({.rank = launch.rank,
                                   .size = launch.size,
                                   .local_size = launch.local_size,
                                   .host = launch.host,
                                   .port = launch.port}));
}

}  // namespace farfield::comm
