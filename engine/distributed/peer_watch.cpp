#include "engine/distributed/peer_watch.h"

#include <utility>

#include "engine/base/error.h"
#include "engine/base/thread.h"

namespace farfield {

PeerWatch::PeerWatch(const comm::Communicator& processes, std::function<bool()> is_waiting,
                     std::function<void()> give_up, WatchTimes times)
    : processes_(processes),
      is_waiting_(std::move(is_waiting)),
      give_up_(std::move(give_up)),
      times_(times),
      missed_(comm::kNobody),
      thread_(start_thread([this] { watch(); })) {}

PeerWatch::~PeerWatch() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

void PeerWatch::check() const {
  const int missed = missed_;
  require<BackendError>(missed == comm::kNobody, "processes", "process ", missed, " of ",
                        processes_.size(),
                        " has ended or cannot be reached any more: the device waited for it");
}

bool PeerWatch::is_over_within(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, time, [this] { return is_over_; });
}

void PeerWatch::watch() {
  std::chrono::milliseconds waited{0};
  while (!is_over_within(times_.between_looks)) {
    const int ended = processes_.first_ended();
    const bool is_stuck = ended != comm::kNobody && is_waiting_();
    waited = is_stuck ? waited + times_.between_looks : std::chrono::milliseconds{0};
    if (waited <= times_.grace) continue;
    missed_ = ended;
    return give_up_();
  }
}

}  // namespace farfield
