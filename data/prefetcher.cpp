#include "data/prefetcher.h"

#include <chrono>
#include <utility>

#include "engine/base/error.h"

namespace farfield::data {

Batch Prefetcher::take(int64_t step) {
  const auto start = std::chrono::steady_clock::now();
  const bool is_read = std::exchange(next_step_, -1) == step;
  Batch batch;
  try {
    background_.wait();
    if (is_read) batch = std::move(next_);
  } catch (const Error&) {
    if (is_read) throw;  // otherwise the error of a batch that is not requested
  }
  if (!is_read) batch = batch_of_(step);
  waited_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  next_step_ = step + 1;
  background_.start([this, next = step + 1] { next_ = batch_of_(next); });
  return batch;
}

}  // namespace farfield::data
