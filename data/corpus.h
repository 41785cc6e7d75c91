#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/skipped.h"
#include "data/source.h"
#include "data/token_file.h"
#include "data/tokenizer.h"

namespace farfield::data {

// A corpus is a folder: train.tokens, valid.tokens, test.tokens and manifest.json. corpus.md
// describes both kinds of file.

inline constexpr std::array<std::string_view, 3> kSplits = {"train", "valid", "test"};

/// The token file of a split in a corpus folder.
std::filesystem::path split_path(const std::filesystem::path& folder, std::string_view split);

/// What manifest.json records.
struct Manifest {
  struct Split {
    TokenCounts counts;
    std::string hash;  ///< of the tokens, as in the token file
  };

  std::string tokenizer;
  std::string tokenizer_hash;
  int64_t n_vocab = 0;
  std::string split_rule;       ///< how documents came to their split, in words
  std::array<Split, 3> splits;  ///< in the order of kSplits
  std::vector<SourceRecord> sources;
  Skipped skipped;
  std::vector<std::pair<std::string, std::string>> options;

  /// Equal for equal tokens from an equal tokenizer, wherever they came from.
  std::string hash() const;
};

void write_manifest(const std::filesystem::path& folder, const Manifest& manifest);

/// The Manifest::hash() that manifest.json records; "" when the folder holds no corpus. Nothing
/// else is looked at.
std::string corpus_hash(const std::filesystem::path& folder);

/// Whether the folder holds a corpus, whole or damaged.
bool is_corpus(const std::filesystem::path& folder);

/// A corpus open for reading; every token of it has been checked. Copies share the mapping.
class Corpus {
 public:
  /// IoError, naming the file, for a missing or damaged part, or parts that do not belong together.
  static Corpus open(const std::filesystem::path& folder);

  /// By name, one of kSplits; ConfigError for another.
  const TokenFile& split(std::string_view name) const;
  const Tokenizer& tokenizer() const { return tokenizer_; }
  /// Rows an embedding needs: tokenizer().n_vocab() padded to a multiple of 64.
  int64_t vocab_size() const { return padded_vocab_size(tokenizer_.n_vocab()); }
  /// Manifest::hash(): tells corpora apart by their tokens.
  const std::string& hash() const { return hash_; }

 private:
  Corpus(Tokenizer tokenizer, std::vector<TokenFile> splits, std::string hash)
      : tokenizer_(std::move(tokenizer)), splits_(std::move(splits)), hash_(std::move(hash)) {}

  Tokenizer tokenizer_;
  std::vector<TokenFile> splits_;
  std::string hash_;
};

}  // namespace farfield::data
