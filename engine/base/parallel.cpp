#include "engine/base/parallel.h"

#include <sched.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/blocked_signals.h"
#include "engine/base/error.h"
#include "engine/base/interrupt.h"

namespace farfield {
namespace {

thread_local bool inside_body = false;

using SteadyTime = std::chrono::steady_clock::time_point;
// What time_threads() counts.
std::atomic<bool> is_timed{false};
std::atomic<int64_t> called_ns{0}, busy_ns{0};

SteadyTime now_if(bool is_needed) {
  return is_needed ? std::chrono::steady_clock::now() : SteadyTime();
}
int64_t ns_since(SteadyTime begin) {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // some tens of cycles; most processors take `yield` for nothing at all
#endif
}

// One job at a time; its indices are handed out by an atomic counter. Workers spin briefly before
// they sleep, since a training step is a few hundred short jobs in a row. A job waits for the
// workers that joined it, never for a worker that still sleeps: on a busy machine waking may take
// long.
class Pool {
 public:
  ~Pool() { stop(); }

  void resize(int n) {
    stop();
    stopping_ = false;
    started_from_ = generation_.load();
    const BlockedSignals blocked;  // signals are for the caller's thread
    try {
      for (int i = 1; i < n; ++i) workers_.emplace_back([this] { work(); });
    } catch (const std::system_error& error) {
      const size_t given = workers_.size() + 1;
      stop();
      fail<ConfigError>("threads", "expected ", n, " threads, the system gives ", given, " (",
                        error.what(), "); ask for fewer");
    }
  }

  void run(int64_t n, detail::Body body, const void* context) {
    const std::lock_guard<std::mutex> one_job(job_mutex_);
    body_ = body;
    context_ = context;
    size_ = n;
    is_due_ = interrupt_question();
    error_ = nullptr;
    next_.store(0, std::memory_order_relaxed);
    open_.store(true);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      generation_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    drain();
    // A worker says that it is busy and then looks whether the job is open; here it is the other
    // way round, so one of the two sees the other (both sequentially consistent).
    open_.store(false);
    for (int spin = 0; busy_.load() != 0; ++spin) {
      if (spin < kSpins)
        pause();
      else
        std::this_thread::yield();
    }
    if (error_) std::rethrow_exception(error_);
  }

 private:
  static constexpr int kSpins = 4000;

  void stop() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
      generation_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
  }

  void work() {
    // A worker that starts late must see the job that was posted meanwhile; resize() runs with no
    // job open.
    uint64_t seen = started_from_;
    while (true) {
      for (int spin = 0; spin < kSpins && generation_.load(std::memory_order_acquire) == seen;
           ++spin)
        pause();
      if (generation_.load(std::memory_order_acquire) == seen) {
        std::unique_lock<std::mutex> lock(mutex_);
        wake_.wait(lock, [&] { return generation_.load(std::memory_order_acquire) != seen; });
      }
      seen = generation_.load(std::memory_order_acquire);
      if (stopping_) return;
      busy_.fetch_add(1);
      if (open_.load()) drain();
      busy_.fetch_sub(1);
    }
  }

  void drain() {
    const bool is_counted = is_timed.load(std::memory_order_relaxed);
    const SteadyTime begin = now_if(is_counted);
    inside_body = true;
    for (int64_t i = next_.fetch_add(1); i < size_; i = next_.fetch_add(1)) {
      try {
        throw_if(is_due_);
        body_(context_, i);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!error_) error_ = std::current_exception();
        next_.store(size_);
      }
    }
    inside_body = false;
    if (is_counted) busy_ns += ns_since(begin);
  }

  std::vector<std::thread> workers_;
  std::mutex job_mutex_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<uint64_t> generation_{0};
  uint64_t started_from_ = 0;
  std::atomic<bool> stopping_{false};
  detail::Body body_ = nullptr;
  const void* context_ = nullptr;
  int64_t size_ = 0;
  Interruptible::IsDue is_due_ = nullptr;  // of the thread that posted the job
  std::atomic<int64_t> next_{0};
  std::atomic<bool> open_{false};
  std::atomic<int> busy_{0};
  std::exception_ptr error_;
};

int default_thread_count() {
  const char* const given = std::getenv("FARFIELD_THREADS");
  const std::string_view text = given != nullptr ? given : "";
  if (text.empty()) return static_cast<int>(std::min(n_allowed_processor(), kMostThreads));
  int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  require<ConfigError>(
      error == std::errc() && end == text.data() + text.size() && n >= 1 && n <= kMostThreads,
      "threads", "FARFIELD_THREADS: expected a number from 1 to ", kMostThreads, ", got '", text,
      "'; unset it for all processors");
  return static_cast<int>(n);
}

struct Threads {
  int count = default_thread_count();
  Pool pool;
  Threads() { pool.resize(count); }
};

Threads& threads() {
  static Threads instance;
  return instance;
}

}  // namespace

std::vector<bool> allowed_processors() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0)  // of a machine with more than fit there
    return std::vector<bool>(std::max(1u, std::thread::hardware_concurrency()), true);
  std::vector<bool> own;
  for (int n_left = CPU_COUNT(&set); n_left > 0; n_left -= own.back() ? 1 : 0)
    own.push_back(CPU_ISSET(own.size(), &set));
  return own;
}

int64_t n_allowed_processor() {
  const std::vector<bool> own = allowed_processors();
  return std::max<int64_t>(1, std::count(own.begin(), own.end(), true));
}

int thread_count() { return threads().count; }

void set_thread_count(int64_t n) {
  require<ConfigError>(n >= 1 && n <= kMostThreads, "threads", "expected 1 to ", kMostThreads,
                       " threads, got ", n);
  require<ConfigError>(!inside_body, "threads", "expected no running parallel_for");
  Threads& all = threads();
  const int before = std::exchange(all.count, 1);  // what there is while the pool is made anew
  try {
    all.pool.resize(static_cast<int>(n));
  } catch (const Error&) {
    all.pool.resize(before);
    all.count = before;
    throw;
  }
  all.count = static_cast<int>(n);
}

bool is_inside_parallel() { return inside_body; }

void time_threads(bool is_on) {
  is_timed = is_on;
  if (is_on) called_ns = busy_ns = 0;
}

ThreadTimes thread_times() {
  const auto seconds = [](int64_t ns) { return 1e-9 * static_cast<double>(ns); };
  return {seconds(called_ns), seconds(busy_ns)};
}

namespace {

void run_here(int64_t n, detail::Body body, const void* context) {
  const Interruptible::IsDue is_due = interrupt_question();
  for (int64_t i = 0; i < n; ++i) {
    throw_if(is_due);
    body(context, i);
  }
}

// Counts a call of parallel_for for time_threads(). On one thread, calls from its bodies are a part
// of it; a single body on several threads may be all that another call is made from, so it counts
// as work of the caller.
class CountedCall {
 public:
  CountedCall(int64_t n, bool has_one_thread)
      : is_on_(is_timed.load(std::memory_order_relaxed) && !inside_ && (n > 1 || has_one_thread)),
        has_one_thread_(has_one_thread),
        begin_(now_if(is_on_)) {
    if (is_on_) inside_ = true;
  }
  ~CountedCall() {
    if (!is_on_) return;
    inside_ = false;
    const int64_t ns = ns_since(begin_);
    called_ns += ns;
    if (has_one_thread_) busy_ns += ns;  // else drain() counts
  }
  CountedCall(const CountedCall&) = delete;
  CountedCall& operator=(const CountedCall&) = delete;

 private:
  static thread_local bool inside_;
  bool is_on_, has_one_thread_;
  SteadyTime begin_;
};
thread_local bool CountedCall::inside_ = false;

}  // namespace

void detail::run_parallel(int64_t n, Body body, const void* context) {
  if (n <= 0) return;
  if (inside_body) return run_here(n, body, context);
  const bool has_one_thread = threads().count == 1;
  const CountedCall counted(n, has_one_thread);
  if (n == 1 || has_one_thread)
    run_here(n, body, context);
  else
    threads().pool.run(n, body, context);
}

}  // namespace farfield
