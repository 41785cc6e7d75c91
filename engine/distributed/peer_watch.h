#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "engine/comm/communicator.h"

namespace farfield {

struct WatchTimes {
  std::chrono::milliseconds between_looks{500};
  /// What a process gave the device before it ended well may still have to be done.
  std::chrono::milliseconds grace{5000};
};

/// Watches over a device that works together with those of other processes: it would wait for ever
/// for one that has ended, and the host with it. A thread looks after the processes, and when one
/// of them has ended and the device still waits after a grace period, makes it give up.
class PeerWatch {
 public:
  /// Of `processes`, which outlive it. Both functions are called by the thread; after `give_up`,
  /// whose only call is the last one of all, nothing that the device made may be used.
  PeerWatch(const comm::Communicator& processes, std::function<bool()> is_waiting,
            std::function<void()> give_up, WatchTimes times = {});
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;
  /// Ends the thread.
  ~PeerWatch();

  /// BackendError, naming the process, when the device was made to give up.
  void check() const;

 private:
  void watch();
  bool is_over_within(std::chrono::milliseconds time);

  const comm::Communicator& processes_;
  std::function<bool()> is_waiting_;
  std::function<void()> give_up_;
  WatchTimes times_;
  std::atomic<int> missed_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_over_ = false;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace farfield
