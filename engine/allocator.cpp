#include "engine/allocator.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string_view>

namespace farfield {

bool Allocator::keeps_blocks() {
  static const bool keeps = [] {
    const char* const said = std::getenv("FARFIELD_KEEP_BLOCKS");
    return kKeepsBlocks && (said == nullptr || std::string_view(said) != "0");
  }();
  return keeps;
}

// Eight sizes between two powers of two, at least 64 bytes apart. Exact where blocks are not kept,
// so that a sanitizer sees the first byte beyond the end, and where nothing is that large.
int64_t Allocator::round_up(int64_t size_bytes) const {
  if (!keeps_ || size_bytes > int64_t{1} << 60) return size_bytes;
  const auto power = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(size_bytes)));
  const int64_t step = std::max<int64_t>(64, power / 8);
  return (size_bytes + step - 1) / step * step;
}

void* Allocator::take(Blocks& blocks, int64_t size) {
  const auto found = blocks.find(size);
  if (found == blocks.end() || found->second.empty()) return nullptr;
  void* const data = found->second.back();
  found->second.pop_back();
  return data;
}

void* Allocator::from_cache(int64_t size) {
  void* const data = take(free_blocks_, size);
  if (data != nullptr) stats_.cached_bytes -= size;
  return data;
}

Allocator::Reserve* Allocator::open_reserve() const {
  return !reserves_.empty() && reserves_.back()->is_open_ ? reserves_.back() : nullptr;
}

void* Allocator::allocate(int64_t size_bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const int64_t size = round_up(size_bytes);
  Reserve* const open = open_reserve();
  void* data = open ? take(open->free_, size) : nullptr;
  if (data == nullptr) data = from_cache(size);
  if (data == nullptr) data = source_.get(size);
  // While work is recorded a device may not free memory.
  if (data == nullptr && open == nullptr) {
    release_cached_locked();
    data = source_.get(size);
  }
  if (data == nullptr) fail_without_memory(size_bytes);
  for (Reserve* reserve : reserves_)
    (reserve->is_open_ ? reserve->own_ : reserve->younger_).insert(data);
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
  put_back(data, size);
}

// For a block that counts as current.
void Allocator::put_back(void* data, int64_t size) noexcept {
  try {
    for (Reserve* reserve : reserves_)
      if (reserve->holds(data)) return reserve->keep(data, size);
  } catch (...) {
    return;  // lost, since recorded work may still use it
  }
  stats_.current_bytes -= size;
  if (!keeps_) return source_.put(data, size);
  try {
    free_blocks_[size].push_back(data);
    stats_.cached_bytes += size;
  } catch (...) {
    source_.put(data, size);
  }
}

Allocator::Reserve::Reserve(Allocator& allocator) : allocator_(allocator) {
  const std::lock_guard<std::mutex> lock(allocator_.mutex_);
  auto& all = allocator_.reserves_;
  require<BackendError>(allocator_.open_reserve() == nullptr, "memory", allocator_.source_.name,
                        ": expected one recording at a time, got a second one");
  all.push_back(this);
}

void Allocator::Reserve::keep(void* data, int64_t size) {
  const bool is_free = is_open_ && own_.count(data) > 0;
  (is_free ? free_ : held_)[size].push_back(data);
  if (is_free) allocator_.stats_.current_bytes -= size;
}

void Allocator::Reserve::close() {
  const std::lock_guard<std::mutex> lock(allocator_.mutex_);
  close_locked();
}

void Allocator::Reserve::close_locked() {
  if (!is_open_) return;
  is_open_ = false;
  own_.clear();
  MemoryStats& stats = allocator_.stats_;
  for (const auto& [size, blocks] : free_)
    stats.current_bytes += size * static_cast<int64_t>(blocks.size());
  stats.peak_bytes = std::max(stats.peak_bytes, stats.current_bytes);
}

Allocator::Reserve::~Reserve() {
  const std::lock_guard<std::mutex> lock(allocator_.mutex_);
  close_locked();
  auto& all = allocator_.reserves_;
  all.erase(std::find(all.begin(), all.end(), this));
  for (const Blocks* const part : {&free_, &held_})
    for (const auto& [size, blocks] : *part)
      for (void* data : blocks) allocator_.put_back(data, size);
}

void Allocator::release_cached() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (open_reserve() == nullptr) release_cached_locked();
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

int64_t Allocator::available() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return source_.available ? source_.available() + stats_.cached_bytes : 0;
}

void Allocator::reset_peak() {
  const std::lock_guard<std::mutex> lock(mutex_);
  stats_.peak_bytes = stats_.current_bytes;
}

}  // namespace farfield
