#include "data/tokenizers/bpe.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "data/tokenizers/piece_cache.h"
#include "data/tokenizers/token_ids.h"
#include "data/tokenizers/tokenizer_json.h"
#include "data/tokenizers/unicode.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
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

// An id that a file has recorded.
int32_t recorded_end(const BpeDefinition& d, int32_t id) {
  const auto is_it = [&](const AddedToken& t) { return t.id == id; };
  const bool is_token = (id >= 0 && static_cast<size_t>(id) < d.tokens.size() &&
                         !d.tokens[static_cast<size_t>(id)].empty()) ||
                        std::any_of(d.added.begin(), d.added.end(), is_it);
  require<IoError>(is_token, "tokenizer", "expected the id of a token to end documents with, got ",
                   id);
  return id;
}

int32_t find_end_of_text(const BpeDefinition& d, const TokenizerOptions& options) {
  if (options.end_of_document) return recorded_end(d, *options.end_of_document);
  const std::string& asked = options.end_of_text;
  const auto id_of = [&](std::string_view content) {
    const auto found = std::find_if(d.added.begin(), d.added.end(),
                                    [&](const AddedToken& t) { return t.content == content; });
    return found == d.added.end() ? -1 : found->id;
  };
  if (!asked.empty()) {
    int32_t id = id_of(asked);
    if (id < 0) id = TokenIds(d.tokens).find(asked);
    require<ConfigError>(id >= 0, "tokenizer", "expected --end-of-text to name a token, got '",
                         asked, "'");
    return id;
  }
  constexpr std::string_view kFirst = "<|endoftext|>";
  if (const int32_t id = id_of(kFirst); id >= 0) return id;
  constexpr std::array<std::string_view, 4> kOthers = {"</s>", "<|end_of_text|>", "<eos>", "[EOS]"};
  std::vector<std::string_view> found;
  for (const std::string_view name : kOthers)
    if (id_of(name) >= 0) found.push_back(name);
  require<ConfigError>(found.size() <= 1, "tokenizer", "expected one added token among ", kFirst,
                       ", ", listed(kOthers, " and "), " to end documents with, got ",
                       joined(found), "; name the token with --end-of-text TOKEN");
  return found.empty() ? Tokenizer::kNone : id_of(found.front());
}

// The class of the symbol that ends at `at`, which is not 0.
CharClass symbol_before(std::string_view text, size_t at) {
  size_t begin = at - 1;
  while (begin > 0 && at - begin < 4 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80)
    --begin;
  const Symbol symbol = symbol_at(text, begin);
  return begin + symbol.size == at ? symbol.type : CharClass::other;  // of a byte that is no UTF-8
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
      special_as_text_(options.special_as_text),
      end_of_document_(find_end_of_text(definition_, options)),
      merges_(with_products(definition_)),
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
}

BpeTokenizer::~BpeTokenizer() = default;

void BpeTokenizer::add_added(const AddedToken& token, size_t number) {
  n_vocab_ = std::max(n_vocab_, int64_t{token.id} + 1);
  const bool in_normalized = token.is_normalized && definition_.normalizer == Normalizer::nfc;
  const std::string content = in_normalized ? nfc(token.content) : token.content;
  (token.is_normalized ? added_normalized_ : added_).add(content, static_cast<int32_t>(number));
  for (size_t i = 0; i + 1 < content.size(); ++i) {
    const auto a = static_cast<unsigned char>(content[i]);
    const auto b = static_cast<unsigned char>(content[i + 1]);
    if (b < 128) joined_.set(std::min<size_t>(a, 128) * 128 + b);
  }
}

// between(text) for what lies between added tokens, and the ids of these, in the order of the text.
template <class Between>
void BpeTokenizer::split(const AddedTokens& added, std::string_view text, std::vector<int32_t>& ids,
                         const Between& between) const {
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const AddedTokens::Match match = added.find(text, at);
    at = match.begin + match.size;
    if (match.number >= 0) {
      const AddedToken& token = definition_.added[static_cast<size_t>(match.number)];
      // Ordinary text now, but nothing else is looked for in it.
      if (token.is_special && special_as_text_) continue;
      if (match.begin > begin) between(text.substr(begin, match.begin - begin));
      ids.push_back(token.id);
      begin = at;
    }
  }
  if (begin < text.size()) between(text.substr(begin));
}

void BpeTokenizer::encode(std::string_view text, std::vector<int32_t>& ids) const {
  std::unique_ptr<Scratch> scratch = scratches_->take();
  split(added_, text, ids, [&](std::string_view part) {
    if (definition_.normalizer == Normalizer::nfc)
      encode_normalized(nfc(part), *scratch, ids);
    else
      encode_normalized(part, *scratch, ids);
  });
  scratches_->give_back(std::move(scratch));
}

void BpeTokenizer::encode_normalized(std::string_view text, Scratch& scratch,
                                     std::vector<int32_t>& ids) const {
  split(added_normalized_, text, ids, [&](std::string_view part) {
    if (definition_.add_prefix_space && part.front() != ' ')
      encode_plain(concat(' ', part), scratch, ids);
    else
      encode_plain(part, scratch, ids);
  });
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
  for_each_piece(definition_.pattern, text, [&](std::string_view piece) {
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
  scratch.ids.resize(piece.size());
  bool are_known = true;
  for (size_t i = 0; i < piece.size(); ++i) {
    scratch.ids[i] = byte_ids_[static_cast<unsigned char>(piece[i])];
    are_known = are_known && scratch.ids[i] >= 0;
  }
  if (!are_known) put_unknown(piece, scratch.ids);
  merges_.apply(scratch.ids, scratch.work);
  ids.insert(ids.end(), scratch.ids.begin(), scratch.ids.end());
}

// The ids of bytes without a token: -1 in `ids`.
void BpeTokenizer::put_unknown(std::string_view piece, std::vector<int32_t>& ids) const {
  if (definition_.unknown < 0) {
    const auto at = static_cast<size_t>(std::find(ids.begin(), ids.end(), -1) - ids.begin());
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
  std::string text;
  for (const int32_t id : ids) {
    check_id(id);
    const auto added = std::lower_bound(definition_.added.begin(), definition_.added.end(), id,
                                        [](const AddedToken& t, int32_t i) { return t.id < i; });
    if (added != definition_.added.end() && added->id == id)
      text += added->content;
    else if (static_cast<size_t>(id) < definition_.tokens.size())
      text += definition_.tokens[static_cast<size_t>(id)];
  }
  return text;
}

// Before a blank or a line end of ASCII, behind anything that is no white space. No pattern has a
// piece with such a pair in it, nor looks across: what comes before ends its run there as it would
// at the end of a text, and from the white space on nothing asks what came before. One exception:
// behind punctuation cl100k_base takes line ends along. A blank or line end neither changes nor
// moves in NFC, and nothing composes with it. No added token holds the pair, so none reaches
// across. In front of a blank no other blank is put.
size_t BpeTokenizer::cut(std::string_view text, size_t from) const {
  const Pattern pattern = definition_.pattern;
  if (pattern == Pattern::none || from >= text.size()) return text.size();
  for (size_t at = std::max<size_t>(from, 1); at < text.size(); ++at) {
    const char space = text[at];
    if (space != ' ' && (space != '\n' || definition_.add_prefix_space)) continue;
    const CharClass type = symbol_before(text, at);
    if (type == CharClass::space) continue;
    if (type == CharClass::other && space == '\n' && pattern != Pattern::gpt2) continue;
    const auto before = std::min<unsigned char>(static_cast<unsigned char>(text[at - 1]), 128);
    if (!joined_[size_t{before} * 128 + static_cast<unsigned char>(space)]) return at;
  }
  return text.size();
}

}  // namespace farfield::data
