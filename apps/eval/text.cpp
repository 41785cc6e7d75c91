#include "apps/eval/text.h"

#include <algorithm>
#include <cctype>

#include "engine/base/error.h"
#include "engine/base/hash.h"

namespace farfield::eval {

void read_tokens(std::string_view protocol, const TokenStream& text, int64_t vocab_size,
                 int64_t begin, int64_t n, int32_t* out) {
  text.copy(begin, n, out);
  for (int64_t i = 0; i < n; ++i)
    require<IoError>(out[i] >= 0 && out[i] < vocab_size, concat("eval:", protocol),
                     "bad_token: expected ids below ", vocab_size, ", got ", out[i], " at token ",
                     begin + i);
}

void check_tokens(std::string_view protocol, const TokenStream& text, int64_t vocab_size,
                  int64_t begin, int64_t n) {
  constexpr int64_t kPiece = int64_t{1} << 16;
  std::vector<int32_t> piece(static_cast<size_t>(std::min(n, kPiece)));
  for (const int64_t end = begin + n; begin < end; begin += kPiece)
    read_tokens(protocol, text, vocab_size, begin, std::min(end - begin, kPiece), piece.data());
}

std::string shown_text(std::string text) {
  constexpr size_t kMost = 240;
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isspace(byte)) c = ' ';
    if (byte < 32 || byte >= 127) c = std::isspace(byte) ? ' ' : '?';
  }
  return text;
}

data::Grid windows_of(const TokenStream& text, int64_t size, int64_t length) {
  return data::Grid::windows(size, text.document_tokens, length);
}

std::string documents_text(const TokenStream& text) {
  return text.document_tokens > 0 ? concat(" documents=", text.document_tokens) : "";
}

std::string size_text(const TokenStream& text) {
  return text.document_tokens > 0
             ? concat(text.size, " in documents of ", text.document_tokens, ", which none leaves")
             : std::to_string(text.size);
}

void TokenSet::add(int64_t begin, int64_t n) {
  if (!ranges_.empty() && ranges_.back().second == begin)
    ranges_.back().second += n;
  else
    ranges_.emplace_back(begin, begin + n);
}

void TokenSet::merge() const {
  std::sort(ranges_.begin(), ranges_.end());
  std::vector<std::pair<int64_t, int64_t>> merged;
  for (const auto& range : ranges_) {
    if (!merged.empty() && range.first <= merged.back().second)
      merged.back().second = std::max(merged.back().second, range.second);
    else
      merged.push_back(range);
  }
  ranges_ = std::move(merged);
}

int64_t TokenSet::size() const {
  merge();
  int64_t n = 0;
  for (const auto& [begin, end] : ranges_) n += end - begin;
  return n;
}

double TokenSet::bytes_per_token(const TokenStream& text) const {
  if (!text.count_bytes || size() == 0) return 0;
  int64_t bytes = 0;
  for (const auto& [begin, end] : ranges_) bytes += text.count_bytes(begin, end - begin);
  return static_cast<double>(bytes) / static_cast<double>(size());
}

std::string TokenSet::name(const TokenStream& text) const {
  merge();
  Hasher hasher;
  hasher.update(text.id);
  for (const auto& [begin, end] : ranges_) hasher.update(concat(' ', begin, '-', end));
  return hasher.hex().substr(0, 16);
}

}  // namespace farfield::eval
