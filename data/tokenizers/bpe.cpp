#include "data/tokenizers/bpe.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "data/tokenizers/end_of_text.h"
#include "data/tokenizers/piece_cache.h"
#include "data/tokenizers/token_ids.h"
#include "data/tokenizers/tokenizer_json.h"
#include "data/tokenizers/unicode.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"

namespace farfield::data {
namespace {

std::vector<BpeMerge> with_products(const BpeDefinition& d) {
  const TokenIds ids(d.tokens);
  std::vector<BpeMerge> merges;
  merges.reserve(d.merges.size());
  std::string joined;
  for (const auto& [left, right] : d.merges) {
    joined.assign(d.tokens[static_cast<size_t>(left)]).append(d.tokens[static_cast<size_t>(right)]);
    merges.push_back({left, right, ids.find(joined)});
  }
  return merges;
}

// "the byte 0xC3 of 'é' (U+00E9)"
std::string shown_byte(std::string_view text, size_t at) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto hex = [&](uint32_t value, int n) {
    std::string digits;
    for (int shift = 4 * (n - 1); shift >= 0; shift -= 4) digits += kDigits[value >> shift & 0xF];
    return digits;
  };
  std::string shown = "the byte 0x" + hex(static_cast<unsigned char>(text[at]), 2);
  size_t begin = at;
  while (begin > 0 && at - begin < 3 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80)
    --begin;
  const Utf8Sequence c = first_of_utf8(text.substr(begin));
  if (!c.is_valid || begin + c.size <= at) return shown + ", which is not UTF-8";
  return concat(shown, " of '", text.substr(begin, c.size), "' (U+",
                hex(c.code_point, c.code_point > 0xFFFF ? 6 : 4), ')');
}

// Where the character of a number begins; a byte that is not UTF-8 counts as one.
size_t begin_of_character(std::string_view text, size_t number) {
  size_t at = 0;
  for (; number > 0; --number) at += symbol_at(text, at).size;
  return at;
}

}  // namespace

// The working memory of one encoding thread.
struct BpeTokenizer::Scratch {
  static constexpr size_t kShortBytes = 16, kLongBytes = 32;
  static constexpr size_t kShortIds = 3, kLongIds = 7;

  PieceCache<kShortBytes, kShortIds> short_pieces{16};  // 2 MiB
  PieceCache<kLongBytes, kLongIds> long_pieces{14};     // 1 MiB
  std::vector<int32_t> ids;
  BpeMerges::Workspace work;
};

// Kept from one call to the next: cached pieces and memory are worth keeping.
class BpeTokenizer::Scratches {
 public:
  std::unique_ptr<Scratch> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Scratch> scratch = std::move(idle_.back());
        idle_.pop_back();
        return scratch;
      }
    }
    return std::make_unique<Scratch>();
  }
  void give_back(std::unique_ptr<Scratch> scratch) {
    constexpr size_t kMostKept = 1 << 16;  // ids of a long piece: its memory goes
    if (scratch->ids.capacity() > kMostKept) scratch->ids = {};
    if (scratch->work.heap.capacity() + scratch->work.after.capacity() > kMostKept)
      scratch->work = {};
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(scratch));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> idle_;
};

BpeTokenizer::BpeTokenizer(std::string name, BpeDefinition definition,
                           const TokenizerOptions& options)
    : Tokenizer(std::move(name), File{tokenizer_json_text(definition)}),
      definition_(std::move(definition)),
      pattern_(finest_pattern(definition_)),
      special_as_text_(options.special_as_text),
      end_of_document_(find_end_of_text(definition_, options)),
      merges_(with_products(definition_)),
      cut_rule_(definition_, pattern_),
      scratches_(std::make_unique<Scratches>()) {
  const BpeDefinition& d = definition_;
  byte_ids_.fill(-1);
  for (size_t id = 0; id < d.tokens.size(); ++id) {
    const std::string& bytes = d.tokens[id];
    if (bytes.empty()) continue;
    n_vocab_ = static_cast<int64_t>(id) + 1;
    if (bytes.size() == 1)
      byte_ids_[static_cast<unsigned char>(bytes[0])] = static_cast<int32_t>(id);
    if (d.ignore_merges) whole_.emplace(bytes, static_cast<int32_t>(id));
  }
  for (size_t i = 0; i < d.added.size(); ++i) add_added(d.added[i], i);
  if (d.alphabet == Alphabet::characters) characters_.emplace(d);
}

BpeTokenizer::~BpeTokenizer() = default;

void BpeTokenizer::add_added(const AddedToken& token, size_t number) {
  n_vocab_ = std::max(n_vocab_, int64_t{token.id} + 1);
  added_texts_.push_back(searched(definition_, token));
  (token.is_normalized ? added_normalized_ : added_)
      .add(added_texts_.back(), static_cast<int32_t>(number));
}

// between(part, begins) for what lies between added tokens, and the ids of these, in the order of
// the text.
template <class Between>
void BpeTokenizer::split(const AddedTokens& added, std::string_view text, std::vector<int32_t>& ids,
                         const Between& between) const {
  size_t begin = 0;
  struct {
    size_t begin, end;
  } space = {1, 0};  // that some token has taken along
  for (size_t at = 0; at < text.size();) {
    const AddedTokens::Match match = added.find(text, at);
    at = match.begin + match.size;
    if (match.number < 0) continue;
    const AddedToken& token = definition_.added[static_cast<size_t>(match.number)];
    // Ordinary text now, but nothing else is looked for in it.
    if (token.is_special && special_as_text_) continue;
    if (token.is_single_word && is_within_word(text, match.begin, at)) continue;
    const size_t first =
        token.strips_left ? std::max(space_before(text, match.begin, begin), begin) : match.begin;
    size_t last = at;
    if (token.strips_right) {
      // What is looked for next begins behind the token itself, so be it in this white space: a run
      // is gone through once.
      if (at < space.begin || at > space.end) space = {at, space_behind(text, at)};
      last = space.end;
    }
    // It would be white space alone, which the token before it has taken along.
    if (first >= last) continue;
    if (first > begin) between(text.substr(begin, first - begin), begin == 0);
    ids.push_back(token.id);
    begin = last;
  }
  if (begin < text.size()) between(text.substr(begin), begin == 0);
}

void BpeTokenizer::encode(std::string_view text, std::vector<int32_t>& ids) const {
  std::unique_ptr<Scratch> scratch = scratches_->take();
  const bool is_normal = definition_.normalizer == Normalizer::none &&
                         definition_.blanks.step != BlankRule::Step::normalizer;
  split(added_, text, ids, [&](std::string_view part, bool is_first) {
    if (is_normal)
      encode_normalized(part, is_first, *scratch, ids);
    else
      encode_normalized(normal_text(definition_, part), is_first, *scratch, ids);
  });
  scratches_->give_back(std::move(scratch));
}

void BpeTokenizer::encode_normalized(std::string_view text, bool is_first, Scratch& scratch,
                                     std::vector<int32_t>& ids) const {
  split(added_normalized_, text, ids, [&](std::string_view part, bool begins) {
    encode_between(part, is_first && begins, scratch, ids);
  });
}

void BpeTokenizer::encode_between(std::string_view part, bool is_first, Scratch& scratch,
                                  std::vector<int32_t>& ids) const {
  const BlankRule& blanks = definition_.blanks;
  if (blanks.step == BlankRule::Step::pre_tokenizer) {
    const bool gets_one = blanks.in_front == BlankInFront::always ||
                          (blanks.in_front == BlankInFront::first && is_first);
    const bool has_one = part.front() == ' ' || part.starts_with(kMarkedBlank);
    encode_plain(mark_blanks(part, gets_one && !has_one), scratch, ids);
  } else if (definition_.add_prefix_space && part.front() != ' ') {
    encode_plain(concat(' ', part), scratch, ids);
  } else {
    encode_plain(part, scratch, ids);
  }
}

void BpeTokenizer::encode_plain(std::string_view text, Scratch& scratch,
                                std::vector<int32_t>& ids) const {
  const auto put = [&](std::span<const int32_t> known) {
    ids.insert(ids.end(), known.begin(), known.end());
  };
  const auto via = [&](std::string_view piece, auto& cache, const auto& key, size_t most_ids) {
    const std::span<const int32_t> known = cache.find(key);
    if (!known.empty()) return put(known);
    const size_t n_before = ids.size();
    encode_piece(piece, scratch, ids);
    const std::span<const int32_t> found = std::span<const int32_t>(ids).subspan(n_before);
    if (found.size() <= most_ids) cache.put(key, found);
  };
  const char* const end = text.data() + text.size();
  for_each_piece(pattern_, text, [&](std::string_view piece) {
    const auto readable = static_cast<size_t>(end - piece.data());
    if (piece.size() < Scratch::kShortBytes) {
      using Key = PieceKey<Scratch::kShortBytes>;
      const Key key = readable >= Scratch::kShortBytes ? Key(piece, Key::Readable{}) : Key(piece);
      via(piece, scratch.short_pieces, key, Scratch::kShortIds);
    } else if (piece.size() < Scratch::kLongBytes) {
      using Key = PieceKey<Scratch::kLongBytes>;
      const Key key = readable >= Scratch::kLongBytes ? Key(piece, Key::Readable{}) : Key(piece);
      via(piece, scratch.long_pieces, key, Scratch::kLongIds);
    } else {
      encode_piece(piece, scratch, ids);
    }
  });
}

void BpeTokenizer::encode_piece(std::string_view piece, Scratch& scratch,
                                std::vector<int32_t>& ids) const {
  require<IoError>(piece.size() <= BpeMerges::kMostIds, "tokenizer",
                   "expected text with a boundary at least every ", BpeMerges::kMostIds,
                   " bytes, got a run of ", piece.size(), " bytes without one");
  if (definition_.ignore_merges) {
    const auto found = whole_.find(piece);
    if (found != whole_.end()) return ids.push_back(found->second);
  }
  bool are_known = true;
  if (characters_) {
    are_known = characters_->ids.find(piece, scratch.ids);
  } else {
    scratch.ids.resize(piece.size());
    for (size_t i = 0; i < piece.size(); ++i) {
      scratch.ids[i] = byte_ids_[static_cast<unsigned char>(piece[i])];
      are_known = are_known && scratch.ids[i] >= 0;
    }
  }
  if (!are_known) put_unknown(piece, scratch.ids);
  merges_.apply(scratch.ids, scratch.work);
  ids.insert(ids.end(), scratch.ids.begin(), scratch.ids.end());
}

// The ids of bytes or characters without a token: -1 in `ids`.
void BpeTokenizer::put_unknown(std::string_view piece, std::vector<int32_t>& ids) const {
  if (definition_.unknown < 0) {
    auto at = static_cast<size_t>(std::find(ids.begin(), ids.end(), -1) - ids.begin());
    if (characters_) at = begin_of_character(piece, at);
    fail<IoError>("tokenizer", "expected text that the vocabulary of ", name(), " has tokens for, ",
                  "got ", shown_byte(piece, at), ", for which it has none; ",
                  "take a tokenizer that has a token for each byte");
  }
  const auto is_joined = [&](int32_t before, int32_t id) { return before < 0 && id < 0; };
  if (definition_.fuses_unknown)
    ids.erase(std::unique(ids.begin(), ids.end(), is_joined), ids.end());
  std::replace(ids.begin(), ids.end(), -1, definition_.unknown);
}

std::string BpeTokenizer::decode(std::span<const int32_t> ids) const {
  if (!characters_) return decode_within(ids);
  for (const int32_t id : ids) check_id(id);
  return characters_->texts.decode(ids);
}

std::string BpeTokenizer::decode_within(std::span<const int32_t> ids) const {
  for (const int32_t id : ids) check_id(id);
  if (characters_) return characters_->texts.decode_within(ids);
  std::string text;
  for (const int32_t id : ids) {
    const auto added = std::lower_bound(definition_.added.begin(), definition_.added.end(), id,
                                        [](const AddedToken& t, int32_t i) { return t.id < i; });
    if (added != definition_.added.end() && added->id == id)
      text += added_texts_[static_cast<size_t>(added - definition_.added.begin())];
    else if (static_cast<size_t>(id) < definition_.tokens.size())
      text += definition_.tokens[static_cast<size_t>(id)];
  }
  return text;
}

size_t BpeTokenizer::cut(std::string_view text, size_t from) const {
  return cut_rule_.find(text, from);
}

}  // namespace farfield::data
