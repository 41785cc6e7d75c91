#pragma once

#include <chrono>
#include <string>

namespace farfield::cli {

/// While one lives, the first SIGINT, SIGTERM or SIGUSR1 only sets stop_requested(), writes
/// `notice` to stderr and from then on takes a pipe without a reader for an error of writing, not
/// for the end; the second ends the process at once, with the exit code that a shell gives for that
/// signal, unless `second_ends` is false. At most one at a time, in the main thread: threads of the
/// pool take no signals.
class StopSignals {
 public:
  /// `grace`: the time after the signal from which stop_is_due().
  explicit StopSignals(const std::string& notice = "",
                       std::chrono::duration<double> grace = std::chrono::seconds(10),
                       bool second_ends = true);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
};

/// Whether a signal has asked for a stop while this StopSignals lives; false without one. Any
/// thread may ask.
bool stop_requested();
/// Whether the grace time has passed since then: unfinished work is given up now.
bool stop_is_due();

}  // namespace farfield::cli
