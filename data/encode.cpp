#include "data/encode.h"

#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/parallel.h"

namespace farfield::data {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 18;
constexpr size_t kChunksAtOnce = 16;  // bounds the memory of ids

}  // namespace

Encoder::Encoder(const Tokenizer& tokenizer, size_t n_rows, Take take, int64_t most_uncut)
    : tokenizer_(tokenizer),
      take_(std::move(take)),
      most_uncut_(most_uncut),
      chunks_(kChunksAtOnce),
      next_look_(2 * kPieceBytes) {
  for (Chunk& chunk : chunks_) chunk.ids.resize(n_rows);
}

void Encoder::add(size_t row, std::string_view piece, End end) {
  const bool is_short = waiting_.empty() && end != End::none && piece.size() <= kPieceBytes;
  if (!is_short) {
    waiting_ += piece;
    if (waiting_.size() >= next_look_ || (end != End::none && waiting_.size() > kPieceBytes))
      cut(row, end != End::none);
    if (end == End::none) return;
    piece = waiting_;
  }
  put(row, piece, end == End::document);
  waiting_.clear();
  next_look_ = 2 * kPieceBytes;
}

// Takes what can be cut off from what waits, but for the last piece: where a text may be cut can
// depend on what follows it.
void Encoder::cut(size_t row, bool is_whole) {
  std::string_view text = waiting_;
  while (text.size() > kPieceBytes) {
    const size_t size = tokenizer_.cut(text, kPieceBytes);
    // Later text can decide whether this place is valid.
    if (size >= text.size() || (!is_whole && size + kCutContext > text.size())) break;
    put(row, text.substr(0, size), false);
    text.remove_prefix(size);
  }
  require<IoError>(most_uncut_ == 0 || text.size() <= static_cast<size_t>(most_uncut_), "encode",
                   "expected text that the tokenizer '", tokenizer_.name(),
                   "' can take in pieces, got ", text.size(), " bytes without a place to cut (",
                   most_uncut_,
                   " are the most); --max-line 0 takes them all the same, if memory suffices");
  waiting_.erase(0, waiting_.size() - text.size());
  next_look_ = 2 * waiting_.size();  // not again and again over a text that cannot be cut
  next_look_ = std::max(next_look_, 2 * kPieceBytes);
}

void Encoder::put(size_t row, std::string_view text, bool ends_document) {
  if (n_full_ == chunks_.size()) flush();
  Chunk& chunk = chunks_[n_full_];
  chunk.text += text;
  chunk.pieces.push_back({row, chunk.text.size(), ends_document});
  n_full_ += chunk.text.size() >= kPieceBytes;
}

void Encoder::flush() {
  parallel_for(static_cast<int64_t>(chunks_.size()), [&](int64_t i) {
    Chunk& chunk = chunks_[static_cast<size_t>(i)];
    for (auto& ids : chunk.ids) ids.clear();
    size_t begin = 0;
    for (const Chunk::Piece& piece : chunk.pieces) {
      std::vector<int32_t>& ids = chunk.ids[piece.row];
      tokenizer_.encode(std::string_view(chunk.text).substr(begin, piece.end - begin), ids);
      if (piece.ends_document) ids.push_back(tokenizer_.end_of_document());
      begin = piece.end;
    }
  });
  for (Chunk& chunk : chunks_) {
    for (size_t row = 0; row < chunk.ids.size(); ++row)
      if (!chunk.ids[row].empty()) take_(row, chunk.ids[row]);
    if (chunk.text.capacity() > 4 * kPieceBytes)
      chunk = {{}, {}, decltype(chunk.ids)(chunk.ids.size())};
    chunk.text.clear();
    chunk.pieces.clear();
  }
  n_full_ = 0;
}

}  // namespace farfield::data
