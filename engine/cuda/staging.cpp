#include "engine/cuda/staging.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "engine/cuda/check.h"

namespace farfield {
namespace {

PinnedMemory pinned_memory(size_t size_bytes) {
  void* data = nullptr;
  cuda_check(cudaHostAlloc(&data, size_bytes, cudaHostAllocDefault), "allocation of ", size_bytes,
             " bytes of pinned memory");
  return PinnedMemory(data);
}

void enqueue(const void* pinned, void* to, size_t size_bytes, cudaStream_t stream) {
  cuda_check(cudaMemcpyAsync(to, pinned, size_bytes, cudaMemcpyDefault, stream), "copy of ",
             size_bytes, " bytes to the device");
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
  const std::lock_guard lock(mutex_);
  if (is_recording_) {  // without an event: one of a captured stream must not be asked
    recorded_.push_back(pinned_memory(size_bytes));
    std::memcpy(recorded_.back().get(), from, size_bytes);
    return enqueue(recorded_.back().get(), to, size_bytes, stream);
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

bool Staging::is_recording() {
  const std::lock_guard lock(mutex_);
  return is_recording_;
}

std::vector<PinnedMemory> Staging::end_recording() {
  const std::lock_guard lock(mutex_);
  is_recording_ = false;
  return std::exchange(recorded_, {});
}

}  // namespace farfield
