#pragma once

namespace farfield::apps {

/// While one lives, the first SIGINT, SIGTERM or SIGUSR1 only sets stop_requested(); the second
/// ends the process at once, with the exit code that a shell gives for that signal. At most one at
/// a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
};

/// Whether a signal has asked for a stop since the latest StopSignals was made.
bool stop_requested();

}  // namespace farfield::apps
