#include "tests/support/cuda/device_memory.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>

#include "tests/support/cuda/poison.h"

namespace farfield::emulation {
namespace {

struct Allocations {
  std::mutex mutex;
  std::map<unsigned char*, size_t, std::less<>> size_bytes;
};

Allocations& allocations() {
  static Allocations all;
  return all;
}

}  // namespace

void* allocate_device_memory(size_t size_bytes) {
  constexpr size_t kAlignment = 256;  // what cudaMalloc promises
  void* begin = nullptr;
  // of exactly this size, so that the address sanitizer sees an access to the next byte
  if (posix_memalign(&begin, kAlignment, size_bytes) != 0 || !begin) return nullptr;
  fill(begin, size_bytes, Poison::nan);
  const std::lock_guard lock(allocations().mutex);
  allocations().size_bytes[static_cast<unsigned char*>(begin)] = size_bytes;
  return begin;
}

bool free_device_memory(void* begin) {
  const std::lock_guard lock(allocations().mutex);
  if (allocations().size_bytes.erase(static_cast<unsigned char*>(begin)) == 0) return false;
  std::free(begin);
  return true;
}

bool is_device_memory(const void* begin, size_t size_bytes) {
  const std::lock_guard lock(allocations().mutex);
  const auto& all = allocations().size_bytes;
  const auto* first = static_cast<const unsigned char*>(begin);
  auto after = all.upper_bound(first);
  if (after == all.begin()) return false;
  const auto& [piece, piece_bytes] = *--after;
  const auto offset = static_cast<size_t>(first - piece);
  return offset <= piece_bytes && size_bytes <= piece_bytes - offset;
}

size_t allocated_device_bytes() {
  const std::lock_guard lock(allocations().mutex);
  size_t total = 0;
  for (const auto& [begin, size_bytes] : allocations().size_bytes) total += size_bytes;
  return total;
}

DeviceSnapshot snapshot_device_memory() {
  const std::lock_guard lock(allocations().mutex);
  DeviceSnapshot snapshot;
  for (const auto& [begin, size_bytes] : allocations().size_bytes)
    snapshot.pieces.push_back({begin, {begin, begin + size_bytes}});
  return snapshot;
}

void restore_device_memory(const DeviceSnapshot& snapshot) {
  for (const auto& piece : snapshot.pieces)
    std::copy(piece.bytes.begin(), piece.bytes.end(), piece.begin);
}

}  // namespace farfield::emulation
