#include "data/read_ahead.h"

#include <chrono>
#include <utility>

#include "engine/base/thread.h"

namespace farfield::data {
namespace {

// Together at most some 2 MiB of small documents ahead, and else two documents.
constexpr size_t kBatchBytes = size_t{1} << 20;
constexpr size_t kBatchDocuments = 4096;
constexpr size_t kMostReady = 2;
constexpr std::chrono::milliseconds kPatience(100);

}  // namespace

ReadAhead::ReadAhead(SourceOptions options)
    : reader_([&] {
        options.is_stopped = &is_stopping_;
        return std::move(options);
      }()) {
  thread_ = start_thread([this] { work(); });
}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool ReadAhead::put(Batch batch) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return ready_.size() < kMostReady || is_stopping_; });
  if (is_stopping_) return false;
  ready_.push_back(std::move(batch));
  lock.unlock();
  changed_.notify_all();
  return true;
}

void ReadAhead::work() {
  Batch batch;
  try {
    size_t size = 0;
    for (Document document; reader_.next(document);) {
      size += document.size();
      batch.documents.push_back(std::move(document));
      document = {};
      if (size < kBatchBytes && batch.documents.size() < kBatchDocuments) continue;
      if (!put(std::exchange(batch, {}))) return;
      size = 0;
    }
  } catch (...) {
    error_ = std::current_exception();  // handed on with the last batch, under the lock
  }
  batch.is_last = true;
  put(std::move(batch));
}

bool ReadAhead::next(Document& document, const std::function<void()>& while_waiting) {
  while (next_ == taken_.documents.size()) {
    if (taken_.is_last) {
      if (error_) std::rethrow_exception(error_);
      return false;
    }
    std::unique_lock<std::mutex> lock(mutex_);
    while (!changed_.wait_for(lock, kPatience, [&] { return !ready_.empty(); })) {
      lock.unlock();
      while_waiting();
      lock.lock();
    }
    taken_ = std::move(ready_.front());
    ready_.pop_front();
    next_ = 0;
    lock.unlock();
    changed_.notify_all();
  }
  document = std::move(taken_.documents[next_++]);
  return true;
}

}  // namespace farfield::data
