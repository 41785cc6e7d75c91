#include "engine/distributed/gradient_buckets.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "engine/base/clock.h"
#include "engine/base/error.h"

namespace farfield {

GradientBuckets::GradientBuckets(const FlatLayout& layout, const Group& group, const Device& device)
    : layout_(layout),
      group_(group),
      flat_(Tensor::zeros({layout.numel()}, DType::f32, device)),
      missing_(static_cast<size_t>(layout.n_bucket())),
      turns_(missing_.size()),
      order_(missing_.size()) {
  set_order(turns_);
}

GradientBuckets::~GradientBuckets() { give_up(); }

void GradientBuckets::begin() {
  std::fill(missing_.begin(), missing_.end(), 0);
  for (size_t i = 0; i < layout_.n_parameter(); ++i) {
    const comm::Range buckets = layout_.buckets_of(i);
    for (int64_t k = buckets.begin; k < buckets.end; ++k) ++missing_[static_cast<size_t>(k)];
  }
  is_given_up_ = false;
  is_running_ = true;
  n_complete_ = 0;
  n_begun_ = 0;
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
    for (auto k = static_cast<size_t>(buckets.begin); k < static_cast<size_t>(buckets.end); ++k) {
      if (--missing_[k] > 0) continue;
      turns_[k] = n_complete_++;
      is_complete = true;
    }
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
    // The error that ended the caller's work is reported instead.
  }
}

void GradientBuckets::set_order(const std::vector<double>& turns) {
  std::iota(order_.rbegin(), order_.rend(), 0);
  std::stable_sort(order_.begin(), order_.end(), [&](int64_t a, int64_t b) {
    return turns[static_cast<size_t>(a)] < turns[static_cast<size_t>(b)];
  });
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
  for (; n_begun_ < order_.size(); ++n_begun_) {
    const int64_t next = order_[n_begun_];
    if (missing_[static_cast<size_t>(next)] > 0) return;
    group_.begin_reduce_scatter(bucket(next), FlatLayout::unit());
  }
}

void GradientBuckets::reduce_all() {
  for (const int64_t k : order_) {
    if (!wait_until_complete(k)) return;
    const auto start = std::chrono::steady_clock::now();
    group_.reduce_scatter(bucket(k), FlatLayout::unit());
    reduced_s_ += seconds_since(start);
  }
}

}  // namespace farfield
