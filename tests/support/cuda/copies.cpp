#include "tests/support/cuda/copies.h"

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace farfield::emulation {
namespace {

struct Copy {
  void* to;
  const void* from;
  size_t size_bytes;
};

struct State {
  std::mutex mutex;
  std::map<const unsigned char*, size_t, std::less<>> pinned;  // sizes in bytes
  std::vector<Copy> pending;
  int64_t n_asked = 0, n_waits = 0;
};

State& state() {
  static auto* const all = new State;  // never destroyed: copies outlive static objects
  return *all;
}

}  // namespace

void* allocate_pinned_memory(size_t size_bytes) {
  void* const begin = std::malloc(size_bytes);
  if (begin == nullptr) return nullptr;
  const std::lock_guard lock(state().mutex);
  state().pinned[static_cast<const unsigned char*>(begin)] = size_bytes;
  return begin;
}

bool free_pinned_memory(void* begin) {
  finish_copies();
  const std::lock_guard lock(state().mutex);
  if (state().pinned.erase(static_cast<const unsigned char*>(begin)) == 0) return false;
  std::free(begin);
  return true;
}

bool is_pinned_memory(const void* begin, size_t size_bytes) {
  const std::lock_guard lock(state().mutex);
  const auto* first = static_cast<const unsigned char*>(begin);
  auto after = state().pinned.upper_bound(first);
  if (after == state().pinned.begin()) return false;
  const auto& [piece, piece_bytes] = *--after;
  const auto offset = static_cast<size_t>(first - piece);
  return offset <= piece_bytes && size_bytes <= piece_bytes - offset;
}

void copy_later(void* to, const void* from, size_t size_bytes) {
  const std::lock_guard lock(state().mutex);
  state().pending.push_back({to, from, size_bytes});
  ++state().n_asked;
}

void finish_copies() {
  const std::lock_guard lock(state().mutex);
  for (const Copy& copy : state().pending) std::memcpy(copy.to, copy.from, copy.size_bytes);
  state().pending.clear();
}

int64_t n_copies_asked() {
  const std::lock_guard lock(state().mutex);
  return state().n_asked;
}

int64_t n_copies_done() {
  const std::lock_guard lock(state().mutex);
  return state().n_asked - static_cast<int64_t>(state().pending.size());
}

int64_t n_host_waits() {
  const std::lock_guard lock(state().mutex);
  return state().n_waits;
}

void count_host_wait() {
  const std::lock_guard lock(state().mutex);
  ++state().n_waits;
}

}  // namespace farfield::emulation
