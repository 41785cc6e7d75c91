#pragma once

#include "engine/base/error.h"

namespace farfield {

/// Work was given up because somebody asked for that: what it was to compute is not there.
struct Interrupted : Error {
  using Error::Error;
};

/// While one lives, the work of this thread can be given up: before each of its pieces, on whatever
/// thread that runs, parallel_for asks is_due(), and so does autograd between two ops. Once that
/// says yes, Interrupted is thrown. Results are the same bits as without it.
///
/// is_due must be cheap and callable from any thread; nullptr: nobody asks. What has to be done as
/// a whole or not at all, such as an update of the weights, stays outside.
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

/// What the innermost Interruptible of this thread asks; nullptr without one.
Interruptible::IsDue interrupt_question();

/// Throws Interrupted when is_due says so; nullptr never does.
inline void throw_if(Interruptible::IsDue is_due) {
  if (is_due != nullptr && is_due()) [[unlikely]]
    fail<Interrupted>("interrupt", "stopped on request in the middle of a computation");
}

}  // namespace farfield
