#include "tests/support/processes.h"

#include <sys/wait.h>
#include <unistd.h>

#include <exception>

#include "engine/base/file.h"
#include "engine/base/parallel.h"
#include "engine/comm/tcp_transport.h"
#include "tests/support/held_port.h"
#include "tests/support/temp_folder.h"

namespace farfield::test {

std::vector<EndedProcess> in_processes(
    int size, const std::function<std::string(int rank, uint16_t port)>& work) {
  const TempFolder folder;
  const HeldPort held;
  const uint16_t port = held.port();
  const auto file = [&](int rank) { return folder / std::to_string(rank); };
  const int n_thread = thread_count();
  set_thread_count(1);  // a child would have the pool without its threads
  std::vector<pid_t> children;
  for (int rank = 0; rank < size; ++rank) {
    const pid_t child = ::fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    int status = 0;
    std::string said;
    try {
      said = work(rank, port);
    } catch (const std::exception& error) {
      said = error.what();
      status = 1;
    }
    write_file_atomic(file(rank), said);
    ::_exit(status);
  }
  std::vector<EndedProcess> ended;
  for (int rank = 0; rank < size; ++rank) {
    int status = 0;
    ::waitpid(children[static_cast<size_t>(rank)], &status, 0);
    const bool has_said = std::filesystem::exists(file(rank));
    ended.push_back({WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                     has_said ? read_file(file(rank)) : ""});
  }
  set_thread_count(n_thread);
  return ended;
}

std::vector<EndedProcess> in_processes(
    int size, const std::function<std::string(comm::Communicator&)>& work) {
  return in_processes(size, [&](std::shared_ptr<comm::Communicator> all) { return work(*all); });
}

std::vector<EndedProcess> in_processes(
    int size, const std::function<std::string(std::shared_ptr<comm::Communicator>)>& work) {
  return in_processes(size, [&](int rank, uint16_t port) {
    return work(std::make_shared<comm::Communicator>(
        comm::meet_by_tcp({.rank = rank, .size = size, .host = "127.0.0.1", .port = port})));
  });
}

}  // namespace farfield::test
