#include "engine/cuda/staging.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "engine/cuda/check.h"
#include "engine/cuda/launch.h"

namespace farfield {
namespace {

PinnedMemory pinned_memory(size_t size_bytes) {
  void* data = nullptr;
  cuda_check(cudaHostAlloc(&data, size_bytes, cudaHostAllocDefault), "allocation of ", size_bytes,
             " bytes of pinned memory");
  return PinnedMemory(data);
}

void enqueue(const void* from, void* to, size_t size_bytes, cudaStream_t stream) {
  cuda_check(cudaMemcpyAsync(to, from, size_bytes, cudaMemcpyDefault, stream), "copy of ",
             size_bytes, " bytes to the device");
  wait_if_asked(stream, "copy of ", size_bytes, " bytes to the device");
}

}  // namespace

Staging::Block& Staging::idle_block(size_t size_bytes) {
  for (Block& block : blocks_)
    if (block.size_bytes >= size_bytes && block.copied.has_come()) return block;
  const bool is_new = blocks_.size() < kMostBlocks;
  if (is_new) blocks_.emplace_back();
  Block& block = is_new ? blocks_.back() : blocks_[next_++ % kMostBlocks];
  block.copied.synchronize();
  if (block.size_bytes >= size_bytes) return block;
  const size_t size = std::bit_ceil(std::max(size_bytes, kLeastBytes));
  block.size_bytes = 0;
  block.data = pinned_memory(size);
  block.size_bytes = size;
  return block;
}

void Staging::copy(const void* from, void* to, size_t size_bytes, cudaStream_t stream) {
  std::unique_lock lock(mutex_);
  if (is_recording_) {  // without an event: one of a captured stream must not be asked
    recorded_.push_back({pinned_memory(size_bytes), size_bytes, are_inputs_});
    void* const data = recorded_.back().data.get();
    std::memcpy(data, from, size_bytes);
    return enqueue(data, to, size_bytes, stream);
  }
  if (refilled_ && are_inputs_) refill(from, size_bytes);
  if (size_bytes > kMostBytes) {
    lock.unlock();
    enqueue(from, to, size_bytes, stream);
    return cuda_check(cudaStreamSynchronize(stream), "wait for a copy of ", size_bytes,
                      " bytes to the device");
  }
  Block& block = idle_block(size_bytes);
  std::memcpy(block.data.get(), from, size_bytes);
  enqueue(block.data.get(), to, size_bytes, stream);
  block.copied.record(stream);
}

void Staging::begin_recording() {
  const std::lock_guard lock(mutex_);
  is_recording_ = true;
}

std::vector<Staging::Recorded> Staging::end_recording() {
  const std::lock_guard lock(mutex_);
  is_recording_ = false;
  return std::exchange(recorded_, {});
}

void Staging::set_inputs(bool are_inputs) {
  const std::lock_guard lock(mutex_);
  are_inputs_ = are_inputs;
}

size_t Staging::next_input(size_t i) const {
  while (i < refilled_->size() && !(*refilled_)[i].is_input) ++i;
  return i;
}

void Staging::refill(const void* from, size_t size_bytes) {
  next_refilled_ = next_input(next_refilled_);
  has_fitted_ = has_fitted_ && next_refilled_ < refilled_->size() &&
                (*refilled_)[next_refilled_].size_bytes == size_bytes;
  if (has_fitted_) std::memcpy((*refilled_)[next_refilled_++].data.get(), from, size_bytes);
}

void Staging::begin_refill(std::vector<Recorded>& recorded) {
  const std::lock_guard lock(mutex_);
  refilled_ = &recorded;
  next_refilled_ = 0;
  has_fitted_ = true;
}

bool Staging::end_refill() {
  const std::lock_guard lock(mutex_);
  const bool has_all = has_fitted_ && next_input(next_refilled_) == refilled_->size();
  refilled_ = nullptr;
  return has_all;
}

}  // namespace farfield
