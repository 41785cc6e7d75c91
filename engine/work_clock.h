#pragma once
// Where a CPU's time goes: the kernels of this thread, by the call of dispatch() that asks for
// them. For measuring programs; without a clock a kernel costs one comparison more.

#include <chrono>
#include <cstdint>
#include <vector>

namespace farfield {

/// A call of dispatch() in the sources.
struct WorkPlace {
  const char* file = "";  ///< as the compiler was given it
  int line = 0;
};

/// While it lives, kernels that its thread dispatches to the CPU are timed. One for each thread at
/// a time.
class WorkClock {
 public:
  struct Work {
    WorkPlace place;
    int64_t n_call = 0;
    double seconds = 0;
  };

  WorkClock();
  ~WorkClock();
  WorkClock(const WorkClock&) = delete;
  WorkClock& operator=(const WorkClock&) = delete;

  /// The work since the last call, in the order in which places were first seen.
  std::vector<Work> take();

  /// Times its own life as work of a place. The work of a place inside another is the outer one's.
  class Timing {
   public:
    explicit Timing(const WorkPlace& place) : clock_(of_thread), place_(place) {
      if (clock_ != nullptr) begin();
    }
    ~Timing() {
      if (clock_ != nullptr) end();
    }
    Timing(const Timing&) = delete;
    Timing& operator=(const Timing&) = delete;

   private:
    void begin();
    void end();
    WorkClock* clock_;
    WorkPlace place_;
    std::chrono::steady_clock::time_point begin_ = {};
  };

 private:
  static thread_local WorkClock* of_thread;
  std::vector<Work> work_;
  int depth_ = 0;
};

}  // namespace farfield
