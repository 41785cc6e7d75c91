#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::eval {

/// What a protocol asks of a model. ids and targets are [B, T] row by row, B = batch; values are
/// negative log likelihoods in nats per token.
struct Scorer {
  using Ids = std::vector<int32_t>;
  /// targets [B, n] of the last n places of each row, 1 <= n <= T -> [B, n]. Costs least for few.
  std::function<std::vector<double>(const Ids& ids, const Ids& targets, int64_t batch)> score;
  int64_t vocab_size = 0;
};

/// The text that a protocol reads.
struct TokenStream {
  int64_t size = 0;
  std::function<void(int64_t begin, int64_t n, int32_t* out)> copy;
  /// The text that ids stand for; empty where no tokenizer is known.
  std::function<std::string(std::span<const int32_t> ids)> decode;
  int64_t n_vocab = 0;  ///< ids of the tokenizer are below it; 0: not known
  /// Bytes of the UTF-8 text that n tokens stand for; empty where no tokenizer is known.
  std::function<int64_t(int64_t begin, int64_t n)> count_bytes;
  /// The place of token i in the `.tokens` file of the split, counted from 0. Empty: not known.
  std::function<int64_t(int64_t i)> place;
  std::string id;  ///< tells texts apart: hash of the data, the split, the order of documents
};

/// The command line's options that most protocols share.
struct CommonOptions {
  std::vector<int64_t> lengths = {128, 256, 512, 1024, 2048};
  /// A forward pass takes at most about this many tokens; 0: as many as memory allows and at most
  /// kMostBatchTokens of apps/batch_memory.h.
  int64_t batch_tokens = 0;
  int64_t max_tokens = 0;    ///< read only the beginning of a text that is read whole; 0: all
  bool allow_fewer = false;  ///< accept fewer segments or chunks than asked for
  int64_t draws = 1;         ///< of encodings that draw positions when they are tested
};

/// Refuses what no protocol can use: ConfigError [eval:<protocol>] bad_argument (no lengths,
/// batch_tokens or max_tokens below 0) or length_too_short (below 2).
void check_common(std::string_view protocol, const CommonOptions& common);

/// Tokens that a protocol which reads a whole text takes: all, or the first max_tokens.
int64_t whole_text(const TokenStream& text, const CommonOptions& common);

/// Refuses a word that is not one of `words`, as ConfigError [eval] bad_argument with the nearest.
void check_word(const char* option, const std::string& value,
                const std::vector<std::string>& words);
/// Refuses a number below 1, as ConfigError [eval:<protocol>] bad_argument.
void check_positive(std::string_view protocol, const char* option, int64_t value);

/// Reads n tokens. IoError [eval:<protocol>] bad_token, with the position, for an id that is not
/// below vocab_size.
void read_tokens(std::string_view protocol, const TokenStream& text, int64_t vocab_size,
                 int64_t begin, int64_t n, int32_t* out);
/// Reads n tokens, however many, as read_tokens() does and keeps none: for protocols that read
/// batch by batch, so that a bad one is named before anything is scored.
void check_tokens(std::string_view protocol, const TokenStream& text, int64_t vocab_size,
                  int64_t begin, int64_t n);

/// How many of something were used at each length, for ProtocolResult::parameters: "320", and where
/// other lengths have fewer than the most "320 (15 at 2048)".
std::string counts_text(const std::vector<int64_t>& lengths,
                        const std::function<int64_t(int64_t length)>& count);

/// A set of tokens of a text, by their places.
class TokenSet {
 public:
  void add(int64_t begin, int64_t n);
  int64_t size() const;
  /// LengthResult::tokens: a function of the text and the set, not of the order of add().
  std::string name(const TokenStream& text) const;
  /// Bytes of text for each of them, on average; 0: not known.
  double bytes_per_token(const TokenStream& text) const;

 private:
  mutable std::vector<std::pair<int64_t, int64_t>> ranges_;  // [begin, end), merged when asked for
  void merge() const;
};

}  // namespace farfield::eval
