#include "engine/storage.h"

#include "engine/allocator.h"
#include "engine/dispatch.h"

namespace farfield {
namespace {

Allocator& allocator(const Device& device) {
  return dispatch(device, [](auto tag) -> Allocator& { return allocator_of(tag); });
}

}  // namespace

MemoryStats memory_stats(const Device& device) { return allocator(device).stats(); }
void reset_peak_memory(const Device& device) { allocator(device).reset_peak(); }
void release_cached_memory(const Device& device) { allocator(device).release_cached(); }

Storage::Storage(int64_t size_bytes, const Device& device)
    : size_bytes_(size_bytes), device_(device) {
  if (size_bytes == 0) return;
  allocator_ = &allocator(device);
  data_ = allocator_->allocate(size_bytes);
}

Storage::~Storage() {
  if (data_ != nullptr) allocator_->free(data_, size_bytes_);
}

}  // namespace farfield
