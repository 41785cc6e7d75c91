#include "tests/support/cuda/shared_memory.h"

#include <algorithm>
#include <array>

#include "tests/support/cuda/asan.h"

namespace farfield::emulation {
namespace {

constexpr size_t kAlignment = 1024;  // of what swizzled rows need
constexpr size_t kRedZone = 1024;
constexpr size_t kMaxObjects = 64;
constexpr size_t kArenaBytes =
    SharedMemory::kMaxBytes + kAlignment + (kMaxObjects + 1) * (kRedZone + kAlignment);

size_t round_up(size_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

SharedMemory::SharedMemory() : arena_(std::make_unique<unsigned char[]>(kArenaBytes)) {
  begin(0, kMaxBytes, Poison::nan);
}

SharedMemory::~SharedMemory() { allow(arena_.get(), kArenaBytes); }

void SharedMemory::begin(size_t dynamic_bytes, size_t most_bytes, Poison poison) {
  forbid(arena_.get(), kArenaBytes);
  poison_ = poison;
  most_bytes_ = most_bytes;
  objects_.clear();
  const size_t misaligned = reinterpret_cast<uintptr_t>(arena_.get()) % kAlignment;
  used_bytes_ = (kAlignment - misaligned) % kAlignment + kRedZone;
  if (!kHasAsan) fill(arena_.get(), used_bytes_, poison_);
  add(nullptr, dynamic_bytes);
}

unsigned char* SharedMemory::object(const void* key, size_t size_bytes) {
  size_t static_bytes = size_bytes;
  for (size_t i = 1; i < objects_.size(); ++i) {
    if (objects_[i].key == key) return objects_[i].begin;
    static_bytes += objects_[i].size_bytes;
  }
  const bool has_room = static_bytes <= kMaxStaticBytes && objects_.size() < kMaxObjects &&
                        objects_.front().size_bytes + static_bytes <= most_bytes_;
  return has_room ? add(key, size_bytes) : nullptr;
}

size_t SharedMemory::static_bytes() const {
  size_t total = 0;
  for (size_t i = 1; i < objects_.size(); ++i) total += objects_[i].size_bytes;
  return total;
}

unsigned char* SharedMemory::add(const void* key, size_t size_bytes) {
  unsigned char* begin = arena_.get() + used_bytes_;
  const size_t taken = round_up(size_bytes + kRedZone);
  allow(begin, size_bytes);
  fill(begin, kHasAsan ? size_bytes : taken, poison_);
  used_bytes_ += taken;
  objects_.push_back({key, begin, size_bytes});
  return begin;
}

std::optional<SharedMemory::Overwrite> SharedMemory::overwritten() const {
  if (kHasAsan) return std::nullopt;
  std::array<unsigned char, kRedZone + sizeof(Poison)> intact;
  fill(intact.data(), intact.size(), poison_);
  const auto first_change = [&](const unsigned char* zone, size_t phase) {
    const auto* want = intact.data() + phase;
    return std::mismatch(zone, zone + kRedZone, want).first - zone;
  };
  const Object& first = objects_.front();
  if (const auto at = first_change(first.begin - kRedZone, 0); at < ptrdiff_t{kRedZone})
    return Overwrite{true, at - ptrdiff_t{kRedZone}, first.size_bytes};
  for (const Object& object : objects_) {
    const size_t size = object.size_bytes;
    const auto at = first_change(object.begin + size, size % sizeof(Poison));
    if (at < ptrdiff_t{kRedZone})
      return Overwrite{object.key == nullptr, static_cast<ptrdiff_t>(size) + at, size};
  }
  return std::nullopt;
}

}  // namespace farfield::emulation
