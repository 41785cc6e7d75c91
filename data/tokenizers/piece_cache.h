#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace farfield::data {

/// Up to kBytes - 1 bytes, and how many, as words that are compared and hashed quickly.
template <size_t kBytes>
struct PieceKey {
  std::array<uint64_t, kBytes / 8> words{};

  explicit PieceKey(std::string_view piece) {
    std::memcpy(words.data(), piece.data(), piece.size());
    words.back() |= uint64_t{piece.size()} << 56;
  }
  /// The same, where kBytes bytes may be read from piece.data() on.
  struct Readable {};
  PieceKey(std::string_view piece, Readable) {
    std::memcpy(words.data(), piece.data(), kBytes);
    for (size_t i = 0; i < words.size(); ++i) {
      const size_t n = piece.size() > 8 * i ? piece.size() - 8 * i : 0;  // bytes of it in the word
      if (n < 8) words[i] &= (uint64_t{1} << 8 * n) - 1;
    }
    words.back() |= uint64_t{piece.size()} << 56;
  }
  uint64_t hash() const {
    uint64_t h = 0;
    for (const uint64_t word : words) h = ((h ^ word) * 0x9E3779B97F4A7C15u) ^ (h >> 29);
    return h ^ h >> 32;
  }
};

/// A cache of the ids of short pieces: a table in which a new piece replaces the piece in its slot.
template <size_t kBytes, size_t kIds>
class PieceCache {
 public:
  using Key = PieceKey<kBytes>;

  explicit PieceCache(int bits) : shift_(64 - bits), entries_(size_t{1} << bits) {}

  /// The ids; none if the piece is not here.
  std::span<const int32_t> find(const Key& key) const {
    const Entry& entry = entries_[place(key)];
    if (entry.words != key.words) return {};
    return {entry.ids.data(), entry.n};
  }
  /// At least one id, at most kIds.
  void put(const Key& key, std::span<const int32_t> ids) {
    Entry& entry = entries_[place(key)];
    entry.words = key.words;
    entry.n = static_cast<uint32_t>(ids.size());
    std::memcpy(entry.ids.data(), ids.data(), ids.size_bytes());
  }

 private:
  struct alignas(kBytes + 4 * (kIds + 1)) Entry {
    std::array<uint64_t, kBytes / 8> words{};  // no piece has only zeros: its size is among them
    std::array<int32_t, kIds> ids{};
    uint32_t n = 0;
  };

  size_t place(const Key& key) const {
    return static_cast<size_t>(key.hash() * 0xD6E8FEB86659FD93u >> shift_);
  }

  int shift_;
  std::vector<Entry> entries_;
};

}  // namespace farfield::data
