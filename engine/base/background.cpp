#include "engine/base/background.h"

#include <utility>

#include "engine/base/thread.h"

namespace farfield {

Background::Background() : thread_(start_thread([this] { run(); })) {}

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Background::start(std::function<void()> work) {
  wait();
  {
    const std::lock_guard lock(mutex_);
    work_ = std::move(work);
    is_busy_ = true;
  }
  changed_.notify_all();
}

bool Background::is_done() const {
  const std::lock_guard lock(mutex_);
  return !is_busy_;
}

void Background::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !is_busy_; });
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Background::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_busy_ || is_over_; });
    if (!is_busy_) return;
    const std::function<void()> work = std::exchange(work_, nullptr);
    lock.unlock();
    std::exception_ptr error;
    try {
      work();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    error_ = error;
    is_busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace farfield
