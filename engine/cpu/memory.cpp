#include <sys/mman.h>

#include <cstdlib>

#include "engine/allocator.h"

namespace farfield {
namespace {

constexpr int64_t kHugePage = int64_t{2} << 20;

void* get(int64_t size_bytes) {
  const bool huge = size_bytes >= kHugePage;
  const auto alignment = static_cast<size_t>(huge ? kHugePage : 64);
  const auto rounded = (static_cast<size_t>(size_bytes) + alignment - 1) / alignment * alignment;
  void* data = std::aligned_alloc(alignment, rounded);
  if (huge && data != nullptr)
    ::madvise(data, rounded, MADV_HUGEPAGE);  // a hint: failure is harmless
  return data;
}

void put(void* data, int64_t) { std::free(data); }

}  // namespace

Allocator& allocator_of(Cpu) {
  static auto* const instance =
      new Allocator({get, put, "cpu"});  // never destroyed: static tensors
  return *instance;
}

}  // namespace farfield
