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
  /// The grace period: a device may still be busy with work that a process queued before it ended
  /// well.
  std::chrono::milliseconds grace{5000};
};

/// Watches a device that works together with the devices of other processes. If a process ends, the
/// device would wait for it for ever, and the host too. A thread observes the processes: when one
/// has ended and the device still waits after a grace period, the thread makes the device give up.
class PeerWatch {
 public:
  /// `processes` must outlive it. The thread calls both functions; it calls `give_up` once, as the
  /// last call, and afterwards no result of the device may be used.
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
