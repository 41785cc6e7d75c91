#pragma once

#include <signal.h>

namespace farfield {

/// While it lives, no signal reaches this thread, nor, ever, the threads that it starts. Matrix
/// libraries keep data below the stack pointer, where a handler's frame would go (seen with oneDNN
/// 2.6: every signal in a product could damage memory). Faults are the thread's own.
class BlockedSignals {
 public:
  BlockedSignals();
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace farfield
