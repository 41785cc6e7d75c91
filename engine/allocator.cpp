#include "engine/allocator.h"

#include <algorithm>
#include <bit>

namespace farfield {
namespace {

// Eight sizes between two powers of two, at least 64 bytes apart. Exact where blocks are not kept,
// so that the address sanitizer sees the first byte beyond the end, and where nothing is that
// large.
int64_t round_up(int64_t size_bytes) {
  if (!Allocator::kKeepsBlocks || size_bytes > int64_t{1} << 60) return size_bytes;
  const auto power = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(size_bytes)));
  const int64_t step = std::max<int64_t>(64, power / 8);
  return (size_bytes + step - 1) / step * step;
}

}  // namespace

void* Allocator::allocate(int64_t size_bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const int64_t size = round_up(size_bytes);
  void* data = nullptr;
  if (const auto found = free_blocks_.find(size);
      found != free_blocks_.end() && !found->second.empty()) {
    data = found->second.back();
    found->second.pop_back();
    stats_.cached_bytes -= size;
  } else {
    data = source_.get(size);
    if (data == nullptr) {
      release_cached_locked();
      data = source_.get(size);
    }
    if (data == nullptr) fail_without_memory(size_bytes);
  }
  stats_.current_bytes += size;
  stats_.peak_bytes = std::max(stats_.peak_bytes, stats_.current_bytes);
  return data;
}

void Allocator::fail_without_memory(int64_t size_bytes) const {
  const std::string free_text =
      source_.available ? concat(source_.available(), " free, ") : std::string();
  fail<BackendError>("memory", source_.name, ": ", size_bytes, " bytes asked for, ", free_text,
                     stats_.current_bytes,
                     " bytes already in tensors; try a smaller batch, a shorter length or "
                     "checkpointing");
}

void Allocator::free(void* data, int64_t size_bytes) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  const int64_t size = round_up(size_bytes);
  stats_.current_bytes -= size;
  if (!kKeepsBlocks) return source_.put(data, size);
  try {
    free_blocks_[size].push_back(data);
    stats_.cached_bytes += size;
  } catch (...) {
    source_.put(data, size);
  }
}

void Allocator::release_cached() {
  const std::lock_guard<std::mutex> lock(mutex_);
  release_cached_locked();
}

void Allocator::release_cached_locked() {
  for (const auto& [size, blocks] : free_blocks_)
    for (void* data : blocks) source_.put(data, size);
  free_blocks_.clear();
  stats_.cached_bytes = 0;
}

MemoryStats Allocator::stats() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stats_;
}

void Allocator::reset_peak() {
  const std::lock_guard<std::mutex> lock(mutex_);
  stats_.peak_bytes = stats_.current_bytes;
}

}  // namespace farfield
