#include "engine/cpu/huge_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <new>
#include <utility>

namespace farfield {
namespace {

int64_t round_up(int64_t size, int64_t step) { return (size + step - 1) / step * step; }

// The memory of the huge pages in [begin, end) goes back to the system; their addresses stay.
void discard(char* begin, char* end) {
  const auto first = round_up(reinterpret_cast<int64_t>(begin), HugePages::kPage);
  const auto last = reinterpret_cast<int64_t>(end) / HugePages::kPage * HugePages::kPage;
  if (first < last)
    ::madvise(reinterpret_cast<void*>(first), static_cast<size_t>(last - first), MADV_DONTNEED);
}

}  // namespace

HugePages::~HugePages() {
  for (const auto& [chunk, size] : chunks_) std::free(chunk);
}

void* HugePages::whole(int64_t size_bytes) {
  void* data = nullptr;
  const auto size = static_cast<size_t>(size_bytes);
  if (::posix_memalign(&data, kPage, size) != 0) return nullptr;
  ::madvise(data, size, MADV_HUGEPAGE);  // a hint: failure is harmless
  return data;
}

bool HugePages::add_chunk(int64_t size_bytes) {
  auto* const chunk = static_cast<char*>(whole(size_bytes));
  if (chunk == nullptr) return false;
  try {
    chunks_.emplace(chunk, size_bytes);
    free_.emplace(chunk, size_bytes);
    return true;
  } catch (const std::bad_alloc&) {
    chunks_.erase(chunk);
    std::free(chunk);
    return false;
  }
}

void* HugePages::get(int64_t size_bytes) {
  const int64_t size = round_up(size_bytes, kAlignment);
  const auto fits = [size](const auto& range) { return range.second >= size; };
  auto range = std::find_if(free_.begin(), free_.end(), fits);
  if (range == free_.end()) {
    if (!add_chunk(kChunk) && !add_chunk(round_up(size, kPage))) return nullptr;
    range = std::find_if(free_.begin(), free_.end(), fits);
  }
  auto node = free_.extract(range);
  char* const begin = node.key();
  node.key() += size;
  node.mapped() -= size;
  if (node.mapped() > 0) free_.insert(std::move(node));
  return begin;
}

void HugePages::put(void* data, int64_t size_bytes) noexcept {
  auto* begin = static_cast<char*>(data);
  int64_t size = round_up(size_bytes, kAlignment);
  char *const touched = begin - kPage, *const until = begin + size + kPage;
  const auto chunk = std::prev(chunks_.upper_bound(begin));
  const auto next = free_.lower_bound(begin);
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == begin && before->first >= chunk->first) {
      begin = before->first;
      size += before->second;
      free_.erase(before);
    }
  }
  if (next != free_.end() && begin + size == next->first &&
      next->first < chunk->first + chunk->second) {
    size += next->second;
    free_.erase(next);
  }
  if (size == chunk->second) {
    std::free(chunk->first);
    chunks_.erase(chunk);
    return;
  }
  discard(std::max(begin, touched), std::min(begin + size, until));
  try {
    free_.emplace(begin, size);
  } catch (const std::bad_alloc&) {
    return;  // the addresses stay unused
  }
}

int64_t HugePages::held_bytes() const {
  int64_t sum = 0;
  for (const auto& [chunk, size] : chunks_) sum += size;
  return sum;
}

}  // namespace farfield
