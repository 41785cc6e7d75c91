#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace farfield::cli {

/// Another program that runs beside this one, with nothing to read. It has a process group of its
/// own, so that Ctrl-C on a terminal does not reach it.
class Process {
 public:
  /// Starts the program `command.front()`, by path or by name, with both outputs at the end of
  /// `output`. IoError where there is no such program, or no such place.
  Process(const std::vector<std::string>& command, const std::filesystem::path& output);
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  /// Kills it where it still runs.
  ~Process();

  /// Whether it has ended; never waits.
  bool has_ended();
  /// Waits for it, and returns status().
  int wait();
  /// Its exit status, or 128 plus the signal that killed it.
  int status() const { return status_; }
  void signal(int number) const;

 private:
  void take(int status);

  pid_t process_ = -1;
  int status_ = 0;
};

/// How a program ended, and its text on both outputs.
struct Ended {
  int status = 0;  ///< as Process::status()
  std::string said;
};
/// Runs a program to its end. IoError if there is no such program, or no folder for its output.
Ended run_to_end(const std::vector<std::string>& command);

/// Sends SIGTERM to this process as soon as its parent ends; at once where `parent` has ended
/// already.
void stop_with_parent(int64_t parent);

/// This program's own file.
std::string own_program();

}  // namespace farfield::cli
