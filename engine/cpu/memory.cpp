#include <cstdlib>

#include "engine/allocator.h"
#include "engine/cpu/huge_pages.h"

namespace farfield {
namespace {

HugePages& huge_pages() {
  static auto* const instance = new HugePages;  // never destroyed: static tensors
  return *instance;
}

// Blocks that are not kept have memory of their own, so that a sanitizer sees where they end.
bool share_pages(int64_t size_bytes) {
  return Allocator::keeps_blocks() && size_bytes <= HugePages::kLargest;
}

void* get(int64_t size_bytes) {
  if (share_pages(size_bytes)) return huge_pages().get(size_bytes);
  if (size_bytes >= HugePages::kPage) return HugePages::whole(size_bytes);
  void* data = nullptr;
  const auto size = static_cast<size_t>(size_bytes);
  return ::posix_memalign(&data, HugePages::kAlignment, size) == 0 ? data : nullptr;
}

void put(void* data, int64_t size_bytes) {
  if (share_pages(size_bytes)) return huge_pages().put(data, size_bytes);
  std::free(data);
}

}  // namespace

Allocator& allocator_of(Cpu) {
  static auto* const instance =
      new Allocator({get, put, "cpu"});  // never destroyed: static tensors
  return *instance;
}

}  // namespace farfield
