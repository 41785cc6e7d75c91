#include "tests/support/cuda/stuck.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace farfield::emulation {
namespace {

std::atomic<bool> stuck = false;

}  // namespace

bool is_stuck() { return stuck; }
void set_stuck(bool is_stuck) { stuck = is_stuck; }

bool wait_while_stuck() {
  constexpr std::chrono::milliseconds kPause(10), kMost(60'000);
  for (std::chrono::milliseconds waited(0); stuck && waited < kMost; waited += kPause)
    std::this_thread::sleep_for(kPause);
  return !stuck;
}

}  // namespace farfield::emulation
