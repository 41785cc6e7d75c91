#include "engine/packed_copies.h"

#include <atomic>

namespace farfield {
namespace {

std::atomic<int64_t> total_bytes{0};  // of all copies

// A copy, counted as long as somebody has it.
struct Counted {
  explicit Counted(int64_t size_bytes) : storage(size_bytes, Device{}) {}
  ~Counted() { total_bytes -= storage.size_bytes(); }
  Storage storage;
};

}  // namespace

std::shared_ptr<Storage> PackedCopies::reserve(int64_t size_bytes) {
  if (total_bytes.fetch_add(size_bytes) + size_bytes > kMostBytes) {
    total_bytes -= size_bytes;
    return nullptr;
  }
  std::shared_ptr<Counted> counted;
  try {
    counted = std::make_shared<Counted>(size_bytes);
  } catch (...) {
    total_bytes -= size_bytes;
    throw;
  }
  Storage* const storage = &counted->storage;
  return {std::move(counted), storage};
}

int64_t PackedCopies::size_bytes() {
  const std::lock_guard lock(mutex_);
  int64_t sum = 0;
  for (const auto& [key, copy] : copies_) sum += copy->size_bytes();
  return sum;
}

void PackedCopies::clear() {
  const std::lock_guard lock(mutex_);
  copies_.clear();
}

}  // namespace farfield
