// A job of several processes: adds up what all have, and says how they found each other. With
// "kill RANK" that process kills itself half-way; with "build TEXT" they first compare that.

#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/comm/launch.h"

int main(int argc, char** argv) {
  using namespace farfield;
  try {
    const comm::Launch launch = comm::launch_of(comm::environment_of_process());
    comm::Communicator processes = comm::meet(launch);
    const std::string asked = argc == 3 ? argv[1] : "";
    if (asked == "build") processes.require_equal(asked, argv[2]);
    std::vector<float> values(1'000'000, static_cast<float>(processes.rank() + 1));
    processes.sum(values);
    if (asked == "kill" && std::atoi(argv[2]) == processes.rank()) ::raise(SIGKILL);
    processes.sum(values);
    const auto n = static_cast<float>(processes.size());
    require<Error>(values.back() == n * (n + 1) / 2 * n, "job", "other sums: ", values.back());
    if (processes.is_first())
      std::printf("%s, started by %s\n", processes.description().c_str(),
                  launch.starter.empty() ? "nobody" : launch.starter.c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
