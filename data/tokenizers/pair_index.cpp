#include "data/tokenizers/pair_index.h"

#include <algorithm>
#include <utility>

namespace farfield::data {

PairIndex::PairIndex() : slots_(size_t{1} << 16, kNone) {}

size_t PairIndex::place(uint64_t pair) const {
  uint64_t hash = pair * 0x9E3779B97F4A7C15u;
  hash ^= hash >> 32;
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  while (slots_[at] != kNone && entries_[slots_[at]].pair != pair) at = (at + 1) & mask;
  return at;
}

void PairIndex::add(uint64_t pair, int64_t n, uint32_t word) {
  size_t at = place(pair);
  if (slots_[at] == kNone) {
    if (3 * (entries_.size() + 1) > 2 * slots_.size()) {
      make_room();
      at = place(pair);
    }
    slots_[at] = static_cast<uint32_t>(entries_.size());
    entries_.push_back({pair, 0, kNone, false});
  }
  Entry& entry = entries_[slots_[at]];
  entry.count += n;
  if (!entry.has_grown) {
    entry.has_grown = true;
    grown_.push_back(slots_[at]);
  }
  if (entry.words != kNone && listed_[entry.words].word == word) return;
  uint32_t listed = free_;
  if (listed != kNone) {
    free_ = listed_[listed].next;
  } else {
    listed = static_cast<uint32_t>(listed_.size());
    listed_.emplace_back();
  }
  listed_[listed] = {word, entry.words};
  entry.words = listed;
}

void PairIndex::remove(uint64_t pair, int64_t n) { entries_[slots_[place(pair)]].count -= n; }

int64_t PairIndex::count(uint64_t pair) const {
  const uint32_t found = slots_[place(pair)];
  return found == kNone ? 0 : entries_[found].count;
}

// Pairs that are no more give their place up first.
void PairIndex::make_room() {
  std::vector<uint32_t> moved(entries_.size(), kNone);
  size_t n = 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].count == 0 && !entries_[i].has_grown) {
      forget_words(entries_[i]);
      continue;
    }
    moved[i] = static_cast<uint32_t>(n);
    entries_[n++] = entries_[i];
  }
  entries_.resize(n);
  for (uint32_t& i : grown_) i = moved[i];
  moved = {};
  slots_.assign(2 * n > slots_.size() ? 2 * slots_.size() : slots_.size(), kNone);
  for (size_t i = 0; i < n; ++i) slots_[place(entries_[i].pair)] = static_cast<uint32_t>(i);
}

void PairIndex::forget_words(Entry& entry) {
  while (entry.words != kNone) {
    const uint32_t next = listed_[entry.words].next;
    listed_[entry.words].next = std::exchange(free_, entry.words);
    entry.words = next;
  }
}

void PairIndex::settle() {
  grown_pairs_.clear();
  for (const uint32_t i : grown_) {
    Entry& entry = entries_[i];
    entry.has_grown = false;
    if (entry.count <= 0) continue;
    grown_pairs_.push_back(entry.pair);
    if (entry.count >= 2) heap_.push({entry.pair, entry.count});
  }
  grown_.clear();
}

PairIndex::Top PairIndex::top() {
  while (!heap_.empty()) {
    const Top top = heap_.top();
    const int64_t now = count(top.pair);
    if (now == top.count) return top;
    heap_.pop();
    // A pair that has grown is in the heap once more, with its current count.
    if (now >= 2 && now < top.count) heap_.push({top.pair, now});
  }
  return {0, 0};
}

void PairIndex::take_words(uint64_t pair, std::vector<uint32_t>& words) {
  words.clear();
  const uint32_t found = slots_[place(pair)];
  if (found == kNone) return;
  Entry& entry = entries_[found];
  for (uint32_t i = entry.words; i != kNone; i = listed_[i].next) words.push_back(listed_[i].word);
  forget_words(entry);
}

}  // namespace farfield::data
