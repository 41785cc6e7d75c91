#include "data/tokenizers/piece_table.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/base/hash.h"

namespace farfield::data {

void PieceTable::add(std::string_view piece, int64_t n) { add(piece, n, hash64(piece)); }

void PieceTable::add(std::string_view piece, int64_t n, uint64_t hash) {
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  for (; slots_[at] != 0; at = (at + 1) & mask) {
    Entry& entry = entries_[slots_[at] - 1];
    if (entry.hash == hash && piece == piece_of(entry)) {
      entry.count += n;
      return;
    }
  }
  entries_.push_back(
      {static_cast<uint32_t>(text_.size()), static_cast<uint32_t>(piece.size()), n, hash});
  text_ += piece;
  slots_[at] = static_cast<uint32_t>(entries_.size());
  if (2 * entries_.size() > slots_.size()) grow();
}

void PieceTable::grow() {
  slots_.assign(2 * slots_.size(), 0);
  const size_t mask = slots_.size() - 1;
  for (size_t i = 0; i < entries_.size(); ++i) {
    size_t at = entries_[i].hash & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = static_cast<uint32_t>(i + 1);
  }
}

void PieceTable::clear() {
  text_.clear();
  entries_.clear();
  std::fill(slots_.begin(), slots_.end(), 0);
}

std::vector<uint32_t> PieceTable::by_count() const {
  std::vector<uint32_t> order(entries_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const int64_t of_a = entries_[a].count, of_b = entries_[b].count;
    return of_a != of_b ? of_a > of_b : piece(a) < piece(b);
  });
  return order;
}

void PieceTable::keep_most_seen(size_t most_bytes) {
  PieceTable kept;
  for (const uint32_t i : by_count()) {
    if (kept.bytes() + entries_[i].size > most_bytes) break;
    kept.add(piece(i), entries_[i].count, entries_[i].hash);
  }
  *this = std::move(kept);
}

}  // namespace farfield::data
