#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "engine/storage.h"

namespace farfield {

/// What matrix products on the CPU packed of a tensor's elements, kept for products that come later
/// (Tensor::keep_packed()). Threads may use one object at the same time.
class PackedCopies {
 public:
  /// The most bytes of all copies in the process together.
  static constexpr int64_t kMostBytes = int64_t{512} << 20;

  /// A stored matrix [rows, columns] as a factor, and who packs it.
  struct Key {
    const void* data;
    int64_t rows, columns, ld;
    bool transposed;
    const void* packer;
    auto tied() const { return std::tie(data, rows, columns, ld, transposed, packer); }
    bool operator<(const Key& other) const { return tied() < other.tied(); }
  };
  using Bytes = std::shared_ptr<const Storage>;

  PackedCopies() = default;
  ~PackedCopies() { clear(); }
  PackedCopies(const PackedCopies&) = delete;
  PackedCopies& operator=(const PackedCopies&) = delete;

  /// The copy for a key. Where there is none, it has this size and pack(std::byte*) fills it.
  /// Null: it would be too much memory.
  template <class Pack>
  Bytes get(const Key& key, int64_t size_bytes, const Pack& pack) {
    const std::lock_guard lock(mutex_);
    if (const auto found = copies_.find(key); found != copies_.end()) return found->second;
    const std::shared_ptr<Storage> copy = reserve(size_bytes);
    if (copy == nullptr) return nullptr;
    pack(static_cast<std::byte*>(copy->data()));
    copies_.emplace(key, copy);
    return copy;
  }
  /// Forgets all: the elements change.
  void clear();
  /// Bytes of all copies.
  int64_t size_bytes();

 private:
  static std::shared_ptr<Storage> reserve(int64_t size_bytes);

  std::mutex mutex_;
  std::map<Key, Bytes> copies_;
};

}  // namespace farfield
