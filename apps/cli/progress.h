#pragma once

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>

namespace farfield::cli {

/// --quiet: whether this process leaves out what remarks() takes.
void set_quiet(bool is_quiet);
/// Of several processes that were started together, only the first prints remarks.
void leave_remarks_to_first();
/// stderr, for texts that are neither results, which go to stdout, nor warnings: progress, names of
/// written files. Goes nowhere after set_quiet(true) or leave_remarks_to_first().
std::ostream& remarks();

/// Where a long piece of work stands: on a terminal one line that is rewritten, at most ten times a
/// second; elsewhere a plain line for each update that is marked as one to keep.
class Progress {
 public:
  Progress(std::ostream& out, bool is_terminal);
  /// On remarks(), a terminal or not.
  static Progress on_stderr();
  /// Ends the line that is being rewritten.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` of `total` units; time left is judged from the units done since this object was made.
  void update(int64_t done, int64_t total, const std::string& text, bool keep);
  /// A line that stays, terminal or not.
  void say(const std::string& line);
  /// Takes away the line that is being rewritten, before others write to the same terminal.
  void erase();

 private:
  using Clock = std::chrono::steady_clock;

  std::ostream& out_;
  bool is_terminal_;
  size_t shown_ = 0;  // width of the line that is being rewritten
  int64_t first_ = -1;
  Clock::time_point start_, latest_{};
};

}  // namespace farfield::cli
