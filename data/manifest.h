#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/skipped.h"
#include "data/source.h"
#include "data/split.h"
#include "data/tokenizers/kept.h"

namespace farfield::data {

// A corpus folder: train.tokens, valid.tokens, test.tokens, manifest.json and, where the tokenizer
// has a file, tokenizer.json. corpus.md describes them.

/// The token file of a split in a corpus folder.
std::filesystem::path split_path(const std::filesystem::path& folder, std::string_view split);

/// The contents of manifest.json.
struct Manifest {
  struct Split {
    TokenCounts counts;
    std::string hash;  ///< of the tokens, as in the token file
  };

  TokenizerPtr tokenizer;
  std::string split_rule;       ///< how documents came to their split, in words
  std::array<Split, 3> splits;  ///< in the order of kSplits
  int64_t document_tokens = 0;  ///< Corpus::document_tokens()
  std::optional<double> floor;  ///< Corpus::floor()
  std::vector<SourceRecord> sources;
  Skipped skipped;
  std::vector<std::pair<std::string, std::string>> options;
  std::vector<std::string> notes;  ///< for programs to print, a sentence each; not written

  /// Equal for equal tokens from an equal tokenizer that are read alike, wherever they came from.
  std::string hash() const;
};

/// manifest.json and, where the tokenizer has a file, tokenizer.json.
void write_manifest(const std::filesystem::path& folder, const Manifest& manifest);

/// The part of manifest.json that an open corpus is compared with. IoError, naming the file, if it
/// is no manifest.
struct RecordedManifest {
  TokenizerRecord tokenizer;
  std::string hash, split_rule;
  std::array<Manifest::Split, 3> splits;
  int64_t document_tokens = 0;
  std::optional<double> floor;
};
RecordedManifest read_manifest(const std::filesystem::path& folder);

/// The Manifest::hash() of these parts.
std::string manifest_hash(const std::string& tokenizer_hash,
                          const std::array<Manifest::Split, 3>& splits,
                          int64_t document_tokens = 0);

/// ConfigError unless a corpus may be made in the folder: it is new or empty, or holds a corpus
/// that `force` replaces. IoError if that cannot be determined.
void require_corpus_output(const std::filesystem::path& output, bool force);

/// Whether the folder holds a corpus, whole or damaged. IoError without permission to look.
bool is_corpus_folder(const std::filesystem::path& folder);

}  // namespace farfield::data
