#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::data {

/// How often each piece of text was seen.
class PieceTable {
 public:
  PieceTable() : slots_(kFewestSlots) {}

  /// bytes() stays below 4 GiB.
  void add(std::string_view piece, int64_t n = 1);
  void clear();

  size_t size() const { return entries_.size(); }
  /// Of all different pieces.
  size_t bytes() const { return text_.size(); }
  /// In the order in which they were first seen.
  std::string_view piece(size_t i) const { return piece_of(entries_[i]); }
  int64_t count(size_t i) const { return entries_[i].count; }

  /// Keeps the pieces seen most, of those seen alike the ones whose bytes come first, as long as
  /// they have no more than so many bytes together.
  void keep_most_seen(size_t most_bytes);
  /// Numbers of the pieces, those seen most first, of those seen alike by their bytes.
  std::vector<uint32_t> by_count() const;

 private:
  static constexpr size_t kFewestSlots = size_t{1} << 12;
  struct Entry {
    uint32_t begin, size;
    int64_t count;
    uint64_t hash;
  };
  std::string_view piece_of(const Entry& entry) const {
    return std::string_view(text_).substr(entry.begin, entry.size);
  }
  void add(std::string_view piece, int64_t n, uint64_t hash);
  void grow();

  std::string text_;  // all pieces, one behind the other
  std::vector<Entry> entries_;
  std::vector<uint32_t> slots_;  // open addressing; 0: empty, else number of the entry + 1
};

}  // namespace farfield::data
