#include "data/tokenizers/bpe_trainer.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "data/tokenizers/added_tokens.h"
#include "data/tokenizers/bpe.h"
#include "data/tokenizers/byte_alphabet.h"
#include "data/tokenizers/pair_index.h"
#include "data/tokenizers/unicode.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/utf8.h"

namespace farfield::data {
namespace {

constexpr std::string_view kWhere = "tokenizer";
constexpr std::string_view kEndOfText = "<|endoftext|>";
constexpr size_t kMostPieceBytes = 1024;
constexpr size_t kMostTokenBytes = size_t{64} << 20;  // of all tokens together
constexpr int64_t kProgressTokens = 64;

// All bytes, in the order of the characters that stand for them in files.
std::vector<std::string> byte_tokens() {
  std::map<std::pair<size_t, std::string>, std::string> sorted;  // by character
  for (int byte = 0; byte < 256; ++byte) {
    const std::string token(1, static_cast<char>(byte));
    const std::string character = bytes_to_characters(token);
    sorted[{character.size(), character}] = token;
  }
  std::vector<std::string> tokens;
  for (const auto& entry : sorted) tokens.push_back(entry.second);
  return tokens;
}

// The tokens, and which of them has some bytes.
class Vocabulary {
 public:
  Vocabulary() : tokens_(byte_tokens()), ids_(0, Hash{&tokens_}, Equal{&tokens_}) {
    for (size_t id = 0; id < tokens_.size(); ++id) ids_.insert(static_cast<int32_t>(id));
  }
  int32_t find(const std::string& bytes) const {
    const auto found = ids_.find(bytes);
    return found == ids_.end() ? -1 : *found;
  }
  int32_t add(std::string bytes) {
    size_bytes_ += bytes.size();
    tokens_.push_back(std::move(bytes));
    const auto id = static_cast<int32_t>(tokens_.size() - 1);
    ids_.insert(id);
    return id;
  }
  const std::string& operator[](int32_t id) const { return tokens_[static_cast<size_t>(id)]; }
  size_t size() const { return tokens_.size(); }
  size_t size_bytes() const { return size_bytes_; }
  std::vector<std::string> take() { return std::move(tokens_); }

 private:
  struct Hash {
    using is_transparent = void;
    const std::vector<std::string>* tokens;
    size_t operator()(const std::string& bytes) const { return hash64(bytes); }
    size_t operator()(int32_t id) const { return hash64((*tokens)[static_cast<size_t>(id)]); }
  };
  struct Equal {
    using is_transparent = void;
    const std::vector<std::string>* tokens;
    bool operator()(int32_t a, int32_t b) const { return a == b; }
    bool operator()(const std::string& a, int32_t b) const {
      return a == (*tokens)[static_cast<size_t>(b)];
    }
    bool operator()(int32_t a, const std::string& b) const { return (*this)(b, a); }
  };
  std::vector<std::string> tokens_;
  std::unordered_set<int32_t, Hash, Equal> ids_;
  size_t size_bytes_ = 0;
};

// Different pieces as the tokens they consist of, and how often each occurs.
class Words {
 public:
  Words(const PieceTable& pieces, const Vocabulary& vocabulary, PairIndex& pairs) : pairs_(pairs) {
    std::array<int32_t, 256> ids{};
    for (int byte = 0; byte < 256; ++byte)
      ids[static_cast<size_t>(byte)] = vocabulary.find(std::string(1, static_cast<char>(byte)));
    symbols_.reserve(pieces.bytes());
    words_.reserve(pieces.size());
    for (size_t i = 0; i < pieces.size(); ++i) {
      const std::string_view piece = pieces.piece(i);
      words_.push_back({symbols_.size(), static_cast<uint32_t>(piece.size()), pieces.count(i)});
      for (const char c : piece) symbols_.push_back(ids[static_cast<unsigned char>(c)]);
      const std::span<const int32_t> s = symbols(words_.back());
      for (size_t at = 0; at + 1 < s.size(); ++at)
        pairs_.add(symbol_pair(s[at], s[at + 1]), pieces.count(i), static_cast<uint32_t>(i));
    }
    pairs_.settle();
  }

  // Puts `product` for each occurrence of the two, from the left to the right.
  void merge(int32_t left, int32_t right, int32_t product) {
    pairs_.take_words(symbol_pair(left, right), touched_);
    for (const uint32_t word : touched_) merge_in(word, left, right, product);
    pairs_.settle();
  }

  int64_t n_tokens() const {
    int64_t n = 0;
    for (const Word& word : words_) n += word.count * word.size;
    return n;
  }

 private:
  struct Word {
    size_t begin;
    uint32_t size;
    int64_t count;
  };
  std::span<int32_t> symbols(const Word& word) {
    return std::span<int32_t>(symbols_).subspan(word.begin, word.size);
  }

  void merge_in(uint32_t number, int32_t left, int32_t right, int32_t product) {
    Word& word = words_[number];
    const std::span<int32_t> s = symbols(word);
    uint32_t n = 0;  // of what the word becomes: s[0, n), and from `at` on what is left
    for (uint32_t at = 0; at < s.size(); ++n) {
      if (s[at] != left || at + 1 == s.size() || s[at + 1] != right) {
        s[n] = s[at++];
        continue;
      }
      pairs_.remove(symbol_pair(left, right), word.count);
      if (n > 0) {
        pairs_.remove(symbol_pair(s[n - 1], left), word.count);
        pairs_.add(symbol_pair(s[n - 1], product), word.count, number);
      }
      if (at + 2 < s.size()) {
        pairs_.remove(symbol_pair(right, s[at + 2]), word.count);
        pairs_.add(symbol_pair(product, s[at + 2]), word.count, number);
      }
      s[n] = product;
      at += 2;
    }
    word.size = n;
  }

  PairIndex& pairs_;
  std::vector<int32_t> symbols_;
  std::vector<Word> words_;
  std::vector<uint32_t> touched_;
};

class Trainer {
 public:
  Trainer(const PieceTable& pieces, int64_t most_tokens)
      : most_tokens_(static_cast<size_t>(most_tokens)), words_(pieces, vocabulary_, pairs_) {}

  // Returns why it stopped early.
  std::string run(const std::function<void(int64_t)>& progress) {
    for (size_t reported = 0; vocabulary_.size() < most_tokens_;) {
      const PairIndex::Top top = pairs_.top();
      if (top.count == 0) return "no two tokens stand side by side twice";
      if (vocabulary_.size_bytes() > kMostTokenBytes)
        return concat("the tokens have ", kMostTokenBytes >> 20, " MiB together");
      learn(top.pair);
      if (!progress || vocabulary_.size() < reported + kProgressTokens) continue;
      reported = vocabulary_.size();
      progress(static_cast<int64_t>(reported));
    }
    return "";
  }

  int64_t n_tokens() const { return words_.n_tokens(); }

  BpeDefinition finish() {
    BpeDefinition definition;
    definition.merges = std::move(merges_);
    definition.tokens = vocabulary_.take();
    return definition;
  }

 private:
  struct Known {
    int32_t product;
    size_t rank;
  };
  static int32_t left(uint64_t pair) { return static_cast<int32_t>(pair >> 32); }
  static int32_t right(uint64_t pair) { return static_cast<int32_t>(pair & UINT32_MAX); }

  void learn(uint64_t pair) {
    std::string bytes = vocabulary_[left(pair)] + vocabulary_[right(pair)];
    int32_t product = vocabulary_.find(bytes);
    const bool is_new = product < 0;
    if (is_new) product = vocabulary_.add(std::move(bytes));
    known_.emplace(pair, Known{product, merges_.size()});
    merges_.push_back({left(pair), right(pair)});
    words_.merge(left(pair), right(pair), product);
    if (!is_new) merge_known();
  }

  // A token that is made in another way than before can stand in pairs that have been merged long
  // ago: they are merged at once, as whoever encodes does.
  void merge_known() {
    std::map<size_t, uint64_t> waiting;  // by rank
    do {
      for (const uint64_t pair : pairs_.grown())
        if (const auto known = known_.find(pair); known != known_.end())
          waiting.emplace(known->second.rank, pair);
      if (waiting.empty()) return;
      const uint64_t pair = waiting.begin()->second;
      waiting.erase(waiting.begin());
      words_.merge(left(pair), right(pair), known_.at(pair).product);
    } while (true);
  }

  size_t most_tokens_;
  Vocabulary vocabulary_;
  PairIndex pairs_;
  Words words_;
  std::vector<BpeDefinition::Merge> merges_;
  std::unordered_map<uint64_t, Known> known_;
};

void add_special(BpeDefinition& definition, const std::string& content) {
  AddedToken token;
  token.id = static_cast<int32_t>(definition.tokens.size() + definition.added.size());
  token.content = content;
  token.is_special = true;
  definition.added.push_back(token);
}

}  // namespace

void check(const BpeTrainerOptions& options) {
  std::unordered_set<std::string> seen = {std::string(kEndOfText)};
  for (const std::string& token : options.special) {
    require<ConfigError>(token.size() > 1 && token.size() <= AddedTokens::kMostBytes &&
                             count_invalid_utf8(token) == 0,
                         kWhere, "--special: expected 2 to ", AddedTokens::kMostBytes,
                         " bytes of UTF-8, got '", token, "'");
    require<ConfigError>(seen.insert(token).second, kWhere, "--special: expected each token once, ",
                         "with ", kEndOfText, " there already, got '", token, "' again");
  }
  const int64_t fewest = 256 + static_cast<int64_t>(seen.size());
  require<ConfigError>(options.vocab_size >= fewest && options.vocab_size <= kMostLearned, kWhere,
                       "--vocab-size: expected from ", fewest, " (256 bytes, ", seen.size(),
                       seen.size() == 1 ? " special token) to " : " special tokens) to ",
                       kMostLearned, ", got ", options.vocab_size);
}

PieceRule bpe_pieces(Normalizer normalizer) {
  // One that knows all bytes and merges none: where it can cut, any with its pattern can.
  BpeDefinition bytes;
  bytes.tokens = byte_tokens();
  bytes.normalizer = normalizer;
  add_special(bytes, std::string(kEndOfText));
  const auto tokenizer = std::make_shared<BpeTokenizer>("bytes", bytes, TokenizerOptions{});
  PieceRule rule;
  rule.cut = [tokenizer](std::string_view text, size_t from) { return tokenizer->cut(text, from); };
  rule.count = [normalizer](std::string_view text, PieceTable& pieces) {
    std::string normalized;
    if (normalizer == Normalizer::nfc) text = normalized = nfc(text);
    for_each_piece(Pattern::gpt2, text, [&](std::string_view piece) {
      for (; piece.size() > kMostPieceBytes; piece.remove_prefix(kMostPieceBytes))
        pieces.add(piece.substr(0, kMostPieceBytes));
      pieces.add(piece);
    });
  };
  return rule;
}

LearnedBpe learn_bpe(const PieceTable& pieces, const BpeTrainerOptions& options,
                     const std::function<void(int64_t)>& progress) {
  check(options);
  Trainer trainer(pieces, options.vocab_size - 1 - static_cast<int64_t>(options.special.size()));
  LearnedBpe learned;
  learned.stopped = trainer.run(progress);
  learned.n_tokens = trainer.n_tokens();
  learned.definition = trainer.finish();
  learned.definition.normalizer = options.normalizer;
  for (const std::string& token : options.special) add_special(learned.definition, token);
  add_special(learned.definition, std::string(kEndOfText));
  learned.definition = checked(std::move(learned.definition), kWhere, "the learned tokenizer");
  return learned;
}

}  // namespace farfield::data
