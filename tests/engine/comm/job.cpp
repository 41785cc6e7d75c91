// A job of several processes: adds up what all have, and says how they found each other. With
// "kill RANK" that process kills itself half-way, with "throw RANK" it fails there, or all do where
// that is "all"; with "build TEXT" they first compare that.

#include <signal.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/comm/launch.h"
#include "engine/comm/mpi_transport.h"

using namespace farfield;

namespace {

int work(int argc, char** argv) {
  try {
    const comm::Launch launch = comm::launch_of(comm::environment_of_process());
    comm::Communicator processes = comm::meet(launch);
    const std::string asked = argc == 3 ? argv[1] : "";
    if (asked == "build") processes.require_equal(asked, argv[2]);
    std::vector<float> values(1'000'000, static_cast<float>(processes.rank() + 1));
    processes.sum(values);
    const bool is_own = argc == 3 && argv[2] == std::to_string(processes.rank());
    if (asked == "kill" && is_own) ::raise(SIGKILL);
    if (asked == "throw" && (is_own || argv[2] == std::string("all")))
      fail<Error>("job", "process ", processes.rank(), " cannot go on");
    processes.sum(values);
    const auto n = static_cast<float>(processes.size());
    require<Error>(values.back() == n * (n + 1) / 2 * n, "job", "other sums: ", values.back());
    if (processes.is_first())
      std::printf("%s, started by %s\n", processes.description().c_str(),
                  launch.starter.empty() ? "nobody" : launch.starter.c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int status = work(argc, argv);
  std::optional<std::chrono::seconds> patience;
  if (status != 0) patience.emplace(3);
  if (!comm::end_mpi(patience)) comm::abort_mpi(status);
  return status;
}
