#include "engine/cuda/staging.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/cuda/check.h"

namespace farfield {

Staging::Block& Staging::idle_block(size_t size_bytes) {
  for (Block& block : blocks_)
    if (block.size_bytes >= size_bytes && block.copied.has_come()) return block;
  const bool is_new = blocks_.size() < kMostBlocks;
  if (is_new) blocks_.emplace_back();
  Block& block = is_new ? blocks_.back() : blocks_[next_++ % kMostBlocks];
  block.copied.synchronize();
  if (block.size_bytes >= size_bytes) return block;
  const size_t size = std::bit_ceil(std::max(size_bytes, kLeastBytes));
  void* data = nullptr;
  block.size_bytes = 0;
  cuda_check(cudaHostAlloc(&data, size, cudaHostAllocDefault), "allocation of ", size,
             " bytes of pinned memory");
  block.data.reset(data);
  block.size_bytes = size;
  return block;
}

void Staging::copy(const void* from, void* to, size_t size_bytes, cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  Block& block = idle_block(size_bytes);
  std::memcpy(block.data.get(), from, size_bytes);
  cuda_check(cudaMemcpyAsync(to, block.data.get(), size_bytes, cudaMemcpyDefault, stream),
             "copy of ", size_bytes, " bytes to the device");
  block.copied.record(stream);
}

}  // namespace farfield
