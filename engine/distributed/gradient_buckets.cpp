#include "engine/distributed/gradient_buckets.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/base/clock.h"
#include "engine/base/error.h"

namespace farfield {

GradientBuckets::GradientBuckets(const FlatLayout& layout, const Group& group, const Device& device)
    : layout_(layout),
      group_(group),
      flat_(Tensor::zeros({layout.numel()}, DType::f32, device)),
      missing_(static_cast<size_t>(layout.n_bucket())) {}

GradientBuckets::~GradientBuckets() { give_up(); }

void GradientBuckets::begin() {
  std::fill(missing_.begin(), missing_.end(), 0);
  for (size_t i = 0; i < layout_.n_parameter(); ++i) {
    const comm::Range buckets = layout_.buckets_of(i);
    for (int64_t k = buckets.begin; k < buckets.end; ++k) ++missing_[static_cast<size_t>(k)];
  }
  is_given_up_ = false;
  is_running_ = true;
  n_left_ = layout_.n_bucket();
  if (is_on_host()) background_.start([this] { reduce_all(); });
}

void GradientBuckets::put(size_t i, const Tensor& gradient) {
  const comm::Range own = layout_.parameter(i);
  Tensor to = flat_.view({own.size()}, own.begin);
  if (gradient.defined())
    to.assign(gradient.view({own.size()}));
  else
    to.assign(Tensor::zeros(to.shape(), to.dtype(), to.device()));
  const comm::Range buckets = layout_.buckets_of(i);
  bool is_complete = false;
  {
    const std::lock_guard lock(mutex_);
    for (int64_t k = buckets.begin; k < buckets.end; ++k)
      is_complete |= --missing_[static_cast<size_t>(k)] == 0;
  }
  if (!is_complete) return;
  if (is_on_host())
    changed_.notify_one();
  else
    begin_complete();
}

void GradientBuckets::finish() {
  const auto start = std::chrono::steady_clock::now();
  is_running_ = false;
  if (is_on_host())
    background_.wait();
  else
    group_.finish(flat_.device());
  waited_s_ += seconds_since(start);
}

void GradientBuckets::give_up() {
  if (!std::exchange(is_running_, false)) return;
  {
    const std::lock_guard lock(mutex_);
    is_given_up_ = true;
  }
  changed_.notify_one();
  try {
    background_.wait();
  } catch (const Error&) {
    // What ended the caller's work is what is told.
  }
}

// Whether it is complete: not when all is given up.
bool GradientBuckets::wait_until_complete(int64_t bucket) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return is_given_up_ || missing_[static_cast<size_t>(bucket)] == 0; });
  return !is_given_up_;
}

Tensor GradientBuckets::bucket(int64_t k) const {
  const comm::Range range = layout_.bucket(k);
  return flat_.view({range.size()}, range.begin);
}

// In the same order in all processes, whatever each has complete.
void GradientBuckets::begin_complete() {
  for (; n_left_ > 0 && missing_[static_cast<size_t>(n_left_ - 1)] == 0; --n_left_)
    group_.begin_reduce_scatter(bucket(n_left_ - 1), FlatLayout::unit());
}

// Backward comes to the last parameters first.
void GradientBuckets::reduce_all() {
  for (int64_t k = layout_.n_bucket() - 1; k >= 0; --k) {
    if (!wait_until_complete(k)) return;
    const auto start = std::chrono::steady_clock::now();
    group_.reduce_scatter(bucket(k), FlatLayout::unit());
    reduced_s_ += seconds_since(start);
  }
}

}  // namespace farfield
