#pragma once

#include "engine/base/error.h"

namespace farfield {

/// Work was given up on request; its result does not exist.
struct Interrupted : Error {
  using Error::Error;
};

/// While one lives, the work of this thread can be given up: parallel_for calls is_due() before
/// each piece of work, on any thread, and autograd between two ops. Once is_due() returns true,
/// Interrupted is thrown. Results have the same bits as without it.
///
/// is_due must be cheap and callable from any thread; nullptr: never interrupted. Atomic work, such
/// as an update of the weights, stays outside.
class Interruptible {
 public:
  using IsDue = bool (*)();
  explicit Interruptible(IsDue is_due);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  IsDue before_;
};

/// is_due of the innermost Interruptible of this thread; nullptr without one.
Interruptible::IsDue interrupt_question();

/// Throws Interrupted when is_due says so; nullptr never does.
inline void throw_if(Interruptible::IsDue is_due) {
  if (is_due != nullptr && is_due()) [[unlikely]]
    fail<Interrupted>("interrupt", "stopped on request in the middle of a computation");
}

}  // namespace farfield
