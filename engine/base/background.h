#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace farfield {

/// A thread that does one piece of work after another beside the caller's. It takes no signals. Not
/// for work that uses parallel_for() much: that has one pool for all.
class Background {
 public:
  Background();
  /// Waits for the current work; its exceptions are lost.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Starts a piece of work, after a wait() for the one before.
  void start(std::function<void()> work);
  bool is_done() const;
  /// Waits until nothing is left to do, and rethrows what the work threw, once.
  void wait();

 private:
  void run();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
  std::exception_ptr error_;
  bool is_busy_ = false, is_over_ = false;
  std::thread thread_;
};

}  // namespace farfield
