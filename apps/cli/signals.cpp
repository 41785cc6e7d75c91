#include "apps/cli/signals.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "engine/base/error.h"

namespace farfield::cli {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGUSR1};

// The handler uses these: they must be lock-free.
std::atomic<bool> requested{false};
std::atomic<int64_t> due_ns{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int64_t>::is_always_lock_free);

// Set while no handler is there.
std::string notice_text;
int64_t grace_ns = 0;
bool does_second_end = true;
std::array<struct sigaction, kSignals.size()> before;
struct sigaction before_pipe = {};

// A handler has a stack of its own: matrix libraries keep data below the stack pointer of this one,
// where its frame would go (seen with oneDNN 2.6: memory was damaged).
void give_handlers_a_stack() {
  constexpr size_t kStackBytes = 128 << 10;
  alignas(64) static std::array<std::byte, kStackBytes> bytes;
  stack_t there = {};
  if (::sigaltstack(nullptr, &there) == 0 && (there.ss_flags & SS_DISABLE) == 0) return;
  stack_t ours = {};
  ours.ss_sp = bytes.data();
  ours.ss_size = bytes.size();
  ::sigaltstack(&ours, nullptr);
}

int64_t now_ns() {
  struct timespec now {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void on_signal(int which) {
  if (requested.load()) {
    if (does_second_end) ::_exit(128 + which);
    return;
  }
  const int reason = errno;
  due_ns.store(now_ns() + grace_ns);
  requested.store(true);
  // Ctrl-C ends the reader of a pipe too (`| tee log`): that must not end us before all is saved.
  ::signal(SIGPIPE, SIG_IGN);
  (void)!::write(STDERR_FILENO, notice_text.data(), notice_text.size());
  errno = reason;
}

}  // namespace

StopSignals::StopSignals(const std::string& notice, std::chrono::duration<double> grace,
                         bool second_ends) {
  requested.store(false);
  grace_ns = static_cast<int64_t>(grace.count() * 1e9);
  does_second_end = second_ends;
  // A terminal shows "^C" and perhaps a line that is being rewritten.
  const char* const begin = ::isatty(STDERR_FILENO) == 1 ? "\n" : "";
  notice_text = notice.empty() ? "" : concat(begin, notice, '\n');
  ::sigaction(SIGPIPE, nullptr, &before_pipe);
  give_handlers_a_stack();
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART | SA_ONSTACK;  // a write in progress goes on
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &before[i]);
}

StopSignals::~StopSignals() {
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before[i], nullptr);
  ::sigaction(SIGPIPE, &before_pipe, nullptr);
  requested.store(false);
}

bool stop_requested() { return requested.load(std::memory_order_relaxed); }

bool stop_is_due() { return requested.load() && now_ns() >= due_ns.load(); }

}  // namespace farfield::cli
