#include "apps/signals.h"

#include <signal.h>
#include <unistd.h>

#include <array>

namespace farfield::apps {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGUSR1};

volatile sig_atomic_t requests = 0;
std::array<struct sigaction, kSignals.size()> before;

void on_signal(int which) {
  if (requests != 0) ::_exit(128 + which);
  requests = 1;
}

}  // namespace

StopSignals::StopSignals() {
  requests = 0;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;  // a write in progress goes on
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &before[i]);
}

StopSignals::~StopSignals() {
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before[i], nullptr);
}

bool stop_requested() { return requests != 0; }

}  // namespace farfield::apps
