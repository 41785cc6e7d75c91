#include "data/tokenizers/piece_counter.h"

#include <algorithm>
#include <utility>

#include "engine/base/parallel.h"

namespace farfield::data {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 19;
constexpr size_t kChunksAtOnce = 8;
// A text without a place to cut within so many bytes is cut all the same: such a long piece does
// not matter.
constexpr size_t kMostUncut = 2 * kChunkBytes;

}  // namespace

PieceCounter::PieceCounter(PieceRule rule, size_t most_bytes)
    : rule_(std::move(rule)), most_bytes_(most_bytes), chunks_(kChunksAtOnce) {}

void PieceCounter::add(std::string_view part, bool is_last) {
  while (!part.empty()) {
    const size_t n = std::min(part.size(), 2 * kMostUncut - waiting_.size());
    waiting_ += part.substr(0, n);
    part.remove_prefix(n);
    // Whether a place is one can depend on what follows: so never near the end.
    while (waiting_.size() >= 2 * kMostUncut) {
      const size_t size = std::min(rule_.cut(waiting_, kChunkBytes), kMostUncut);
      put(std::string_view(waiting_).substr(0, size));
      waiting_.erase(0, size);
    }
  }
  if (!is_last) return;
  std::string_view text = waiting_;
  while (!text.empty()) {
    const size_t size = text.size() <= kChunkBytes
                            ? text.size()
                            : std::min(rule_.cut(text, kChunkBytes), kMostUncut);
    put(text.substr(0, size));
    text.remove_prefix(size);
  }
  waiting_.clear();
}

void PieceCounter::put(std::string_view text) {
  Chunk& chunk = chunks_[n_full_];
  chunk.text += text;
  chunk.ends.push_back(chunk.text.size());
  n_full_ += chunk.text.size() >= kChunkBytes;
  if (n_full_ == chunks_.size()) count();
}

void PieceCounter::count() {
  parallel_for(static_cast<int64_t>(chunks_.size()), [&](int64_t i) {
    Chunk& chunk = chunks_[static_cast<size_t>(i)];
    size_t begin = 0;
    for (const size_t end : chunk.ends) {
      rule_.count(std::string_view(chunk.text).substr(begin, end - begin), chunk.pieces);
      begin = end;
    }
    chunk.text.clear();
    chunk.ends.clear();
  });
  for (Chunk& chunk : chunks_) {
    for (size_t i = 0; i < chunk.pieces.size(); ++i)
      pieces_.add(chunk.pieces.piece(i), chunk.pieces.count(i));
    chunk.pieces.clear();
    if (pieces_.bytes() <= most_bytes_) continue;
    const size_t before = pieces_.size();
    pieces_.keep_most_seen(most_bytes_ / 2);
    dropped_ += static_cast<int64_t>(before - pieces_.size());
  }
  n_full_ = 0;
}

const PieceTable& PieceCounter::finish() {
  count();
  return pieces_;
}

}  // namespace farfield::data
