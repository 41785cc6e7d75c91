#pragma once

#include <cstdint>
#include <list>
#include <utility>

#include "posenc/encoding.h"

namespace farfield::posenc {

/// Tables by what they were made for, the least recently used dropped beyond a number of bytes.
template <class Value>
class LengthCache {
 public:
  struct Key {
    size_t owner = 0;
    int64_t n_query = 0, n_key = 0;
    Phase phase = Phase::eval;
    friend bool operator==(const Key&, const Key&) = default;
  };
  static constexpr int64_t kMaxBytes = int64_t{32} << 20;

  /// The value kept for key, or make(), which is then kept. size_bytes(value) is its weight; a
  /// value heavier than kMaxBytes is not kept.
  template <class Make, class SizeBytes>
  Value get(const Key& key, const Make& make, const SizeBytes& size_bytes) {
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry)
      if (entry->key == key) {
        entries_.splice(entries_.begin(), entries_, entry);
        return entry->value;
      }
    Value value = make();
    const int64_t bytes = size_bytes(value);
    if (bytes > kMaxBytes) return value;
    entries_.push_front({key, value, bytes});
    for (total_bytes_ += bytes; total_bytes_ > kMaxBytes; entries_.pop_back())
      total_bytes_ -= entries_.back().size_bytes;
    return value;
  }
  int64_t total_bytes() const { return total_bytes_; }

 private:
  struct Entry {
    Key key;
    Value value;
    int64_t size_bytes;
  };
  std::list<Entry> entries_;
  int64_t total_bytes_ = 0;
};

}  // namespace farfield::posenc
