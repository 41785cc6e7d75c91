#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "data/source.h"

namespace farfield::data {

/// A DocumentReader that reads and decompresses in its own thread, some MiB ahead.
class ReadAhead {
 public:
  /// Throws what DocumentReader does.
  explicit ReadAhead(SourceOptions options);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// As DocumentReader::next(), with what that throws. Where it has to wait, `while_waiting` is
  /// called now and then, and may throw to stop.
  bool next(Document& document, const std::function<void()>& while_waiting);
  int64_t bytes_read() const { return reader_.bytes_read(); }
  int64_t bytes_total() const { return reader_.bytes_total(); }
  /// For its counts and records. Once next() has returned false; not before.
  const DocumentReader& reader() const { return reader_; }

 private:
  struct Batch {
    std::vector<Document> documents;
    bool is_last = false;
  };
  void work();
  bool put(Batch batch);  // false: no more is wanted

  std::atomic<bool> is_stopping_{false};
  DocumentReader reader_;
  Batch taken_;
  size_t next_ = 0;  // of taken_

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> ready_;
  std::exception_ptr error_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace farfield::data
