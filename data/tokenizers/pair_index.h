#pragma once

#include <cstddef>
#include <cstdint>
#include <queue>
#include <vector>

namespace farfield::data {

/// Two symbols side by side, as one number that sorts by the left one, then the right one.
inline uint64_t symbol_pair(int32_t left, int32_t right) {
  return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
}

/// How often each pair of symbols occurs, in which words, and which does most often.
class PairIndex {
 public:
  struct Top {
    uint64_t pair;
    int64_t count;
  };

  PairIndex();

  /// n more occurrences in a word.
  void add(uint64_t pair, int64_t n, uint32_t word);
  /// n fewer.
  void remove(uint64_t pair, int64_t n);

  /// To be called after a series of add(): until then top() may not see them.
  void settle();
  /// Pairs that the last settle() has seen to grow.
  const std::vector<uint64_t>& grown() const { return grown_pairs_; }
  /// The pair that occurs most often, of several the smallest; count 0 where none does twice.
  Top top();
  int64_t count(uint64_t pair) const;

  /// The words that may hold the pair, which the index forgets; a word may come more than once.
  void take_words(uint64_t pair, std::vector<uint32_t>& words);

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Entry {
    uint64_t pair;
    int64_t count;
    uint32_t words;  // first of its list, or kNone
    bool has_grown;
  };
  struct Listed {
    uint32_t word, next;
  };
  struct Less {
    bool operator()(const Top& a, const Top& b) const {
      return a.count != b.count ? a.count < b.count : a.pair > b.pair;
    }
  };
  size_t place(uint64_t pair) const;
  void make_room();
  void forget_words(Entry& entry);

  std::vector<Entry> entries_;
  std::vector<uint32_t> slots_;  // open addressing; kNone: empty
  std::vector<Listed> listed_;
  uint32_t free_ = kNone;  // of listed_
  std::vector<uint32_t> grown_;
  std::vector<uint64_t> grown_pairs_;
  std::priority_queue<Top, std::vector<Top>, Less>
      heap_;  // counts as they once were, or as they are
};

}  // namespace farfield::data
