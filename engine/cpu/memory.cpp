#include <sys/mman.h>

#include <cstdlib>

#include "engine/allocator.h"

namespace farfield {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kHugePage = int64_t{2} << 20;

void* get(int64_t size_bytes) {
  const auto size = static_cast<size_t>(size_bytes);
  const bool huge = size_bytes >= kHugePage;
  void* data = nullptr;
  if (::posix_memalign(&data, huge ? kHugePage : kAlignment, size) != 0) return nullptr;
  if (huge) ::madvise(data, size, MADV_HUGEPAGE);  // a hint: failure is harmless
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
