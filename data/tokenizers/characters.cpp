#include "data/tokenizers/characters.h"

#include <algorithm>

#include "data/tokenizers/token_ids.h"
#include "engine/base/utf8.h"

namespace farfield::data {
namespace {

// The byte of a token such as <0x0A>; -1: it is none.
int byte_of(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) return -1;
  int byte = 0;
  for (const char c : token.substr(3, 2)) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                             : -1;
    if (digit < 0) return -1;
    byte = byte * 16 + digit;
  }
  return byte;
}

// Whether a token has a marked blank behind something else.
bool crosses_words(std::string_view token) {
  for (size_t at = token.find(kMarkedBlank); at != token.npos;
       at = token.find(kMarkedBlank, at + 1))
    if (at > 0 && !token.substr(0, at).ends_with(kMarkedBlank)) return true;
  return false;
}

}  // namespace

CharacterIds::CharacterIds(const BpeDefinition& d) {
  of_bytes_.fill(-1);
  for (size_t id = 0; id < d.tokens.size(); ++id) {
    const std::string& token = d.tokens[id];
    if (token.empty()) continue;
    const Utf8Sequence c = first_of_utf8(token);
    if (!c.is_valid || c.size != token.size()) continue;
    if (c.code_point >= of_code_points_.size()) of_code_points_.resize(c.code_point + 1, -1);
    of_code_points_[c.code_point] = static_cast<int32_t>(id);
  }
  if (!d.falls_back_to_bytes) return;
  const TokenIds ids(d.tokens);
  for (size_t byte = 0; byte < of_bytes_.size(); ++byte)
    of_bytes_[byte] = ids.find(byte_token(static_cast<unsigned char>(byte)));
}

bool CharacterIds::find(std::string_view piece, std::vector<int32_t>& ids) const {
  ids.clear();
  bool are_known = true;
  for (size_t at = 0; at < piece.size();) {
    const auto first = static_cast<unsigned char>(piece[at]);
    Utf8Sequence c = {first, 1, true};
    if (first >= 128) c = first_of_utf8(piece.substr(at));
    const int32_t id =
        c.is_valid && c.code_point < of_code_points_.size() ? of_code_points_[c.code_point] : -1;
    const size_t n = c.is_valid ? c.size : 1;
    const auto byte_id = [&](size_t i) {
      return of_bytes_[static_cast<unsigned char>(piece[at + i])];
    };
    if (id >= 0 || byte_id(0) < 0) {
      ids.push_back(id);
      are_known = are_known && id >= 0;
    } else {
      for (size_t i = 0; i < n; ++i) ids.push_back(byte_id(i));
    }
    at += n;
  }
  return are_known;
}

CharacterTexts::CharacterTexts(const BpeDefinition& d) : decoder_(d.decoder), texts_(d.tokens) {
  for (const AddedToken& token : d.added) {
    const auto id = static_cast<size_t>(token.id);
    if (id >= texts_.size()) texts_.resize(id + 1);
    texts_[id] = searched(d, token);
  }
  // With the other start, the first token still has to show its blanks.
  const bool are_kept = decoder_.start == CharacterDecoder::Start::without_blanks;
  for (std::string& text : texts_) {
    if (decoder_.unmarks_blanks && !are_kept) text = unmark_blanks(text);
    if (const int byte = byte_of(text); byte >= 0 && decoder_.joins_bytes)
      text.assign(1, static_cast<char>(byte));
  }
}

std::string CharacterTexts::decode_within(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) text += texts_[static_cast<size_t>(id)];
  return decoder_.start == CharacterDecoder::Start::without_blanks ? unmark_blanks(text) : text;
}

std::string CharacterTexts::decode(std::span<const int32_t> ids) const {
  using Start = CharacterDecoder::Start;
  if (decoder_.start == Start::without_blanks) {
    const auto is_token = [&](int32_t id) { return !texts_[static_cast<size_t>(id)].empty(); };
    const auto first = std::find_if(ids.begin(), ids.end(), is_token);
    if (first == ids.end()) return {};
    std::string start = texts_[static_cast<size_t>(*first)];
    for (size_t at = 0; (at = start.find(kMarkedBlank, at)) != start.npos;)
      start.erase(at, kMarkedBlank.size());
    return start + decode_within(ids.subspan(static_cast<size_t>(first - ids.begin()) + 1));
  }
  std::string text = decode_within(ids);
  if (decoder_.start == Start::without_blank && text.starts_with(' ')) text.erase(0, 1);
  return text;
}

Pattern finest_pattern(const BpeDefinition& d) {
  if (d.alphabet == Alphabet::bytes || d.pattern != Pattern::none || d.ignore_merges ||
      d.blanks.step == BlankRule::Step::none || d.unknown >= 0)
    return d.pattern;
  const TokenIds ids(d.tokens);
  if (ids.find(kMarkedBlank) < 0) return d.pattern;
  const bool crosses = std::any_of(d.merges.begin(), d.merges.end(), [&](const auto& merge) {
    return crosses_words(d.tokens[static_cast<size_t>(merge.left)] +
                         d.tokens[static_cast<size_t>(merge.right)]);
  });
  return crosses ? d.pattern : Pattern::blank_runs;
}

}  // namespace farfield::data
