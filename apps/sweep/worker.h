#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace farfield::sweep {

/// A process of this program that makes one cell. It has a process group of its own, so that Ctrl-C
/// on a terminal reaches the sweep, which passes it on.
class Worker {
 public:
  /// Starts it with both outputs at the end of `log`. IoError where that cannot be.
  Worker(const std::vector<std::string>& command, const std::filesystem::path& log);
  Worker(Worker&& other) noexcept;
  Worker& operator=(Worker&&) = delete;
  /// Kills it where it still runs.
  ~Worker();

  /// Whether it has ended; never waits.
  bool has_ended();
  /// What it ended with: its exit status, or 128 and the signal that killed it.
  int status() const { return status_; }
  void signal(int number) const;

 private:
  pid_t process_ = -1;
  int status_ = 0;
};

/// This program's own file, for a worker to be started from.
std::string own_program();

}  // namespace farfield::sweep
