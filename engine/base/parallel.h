#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace farfield {

/// The most threads that may be asked for: more than any machine has processors.
inline constexpr int64_t kMostThreads = 1024;

/// For each processor of the machine, by number: whether this process may run on it. Affinity and
/// cpusets may leave some out.
std::vector<bool> allowed_processors();
/// How many there are, at least 1.
int64_t n_allowed_processor();

/// Threads that parallel_for uses, the caller's included. Starts at FARFIELD_THREADS, or
/// n_allowed_processor(). ConfigError when FARFIELD_THREADS is no number from 1 to kMostThreads.
int thread_count();

/// Sets thread_count() for the calls that follow; 1 <= n <= kMostThreads, and no more than the
/// system gives: ConfigError. Not to be called from inside parallel_for.
void set_thread_count(int64_t n);

namespace detail {
using Body = void (*)(const void* context, int64_t index);
void run_parallel(int64_t n, Body body, const void* context);
}  // namespace detail

/// Runs body(i) for i in [0, n), each once, on the threads of one pool, and waits for all of them.
///
/// The order and the thread of each i are not fixed, so a result must not depend on them: give each
/// i its own output, and sum partial results in the order of i afterwards. The first exception is
/// rethrown here. A call from inside a body runs serially on that thread. See also interrupt.h.
template <class F>
void parallel_for(int64_t n, const F& body) {
  detail::run_parallel(
      n, [](const void* context, int64_t i) { (*static_cast<const F*>(context))(i); },
      std::addressof(body));
}

/// What threads do in calls of parallel_for.
struct ThreadTimes {
  double call_s = 0;  ///< of the calls, as their caller sees them
  double busy_s = 0;  ///< in bodies, of all threads together
};
/// Starts to count from 0, or stops.
void time_threads(bool is_on);
/// Since it was started. Not to be called while another thread calls parallel_for.
ThreadTimes thread_times();

/// Whether this thread runs a body of parallel_for.
bool is_inside_parallel();

/// Cuts [0, n) into pieces of `grain` (the last may be shorter) and runs body(begin, end) on each.
/// The pieces depend on n and grain alone, never on the number of threads.
template <class F>
void parallel_chunks(int64_t n, int64_t grain, const F& body) {
  parallel_for((n + grain - 1) / grain,
               [&](int64_t chunk) { body(chunk * grain, std::min(n, (chunk + 1) * grain)); });
}

}  // namespace farfield
