#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/split.h"
#include "data/tokenizer.h"

namespace farfield::data {

/// Properties that a corpus in a foreign format does not record. A corpus made by prepare() records
/// all, and so does the meta.json that our converter writes beside other formats (formats/meta.h).
struct CorpusOptions {
  /// Name or path, as make_tokenizer() takes it; empty: the tokenizer.json that lies with the
  /// corpus, where one does.
  std::string tokenizer;
  /// The vocabulary size, if the tokenizer cannot be read: ids are below it, and their text stays
  /// unknown (UnknownTokenizer). Empty: the tokenizer is known.
  std::optional<int64_t> vocab_size;
  /// The token that ends documents, if the tokenizer does not say; with vocab_size its id.
  std::string end_of_text;
  /// Instead of a name: the tokenizer of a model. Other tokens than its own are refused.
  TokenizerPtr model_tokenizer;
  /// How ids are stored, if the files do not say (nanoGPT): "u16" or "u32".
  std::string id_type;
  /// Shares of train, valid and test, of a corpus that is one row of documents: "949,50,1".
  std::string split;
};

/// The tokenizer given by `tokenizer` or `vocab_size`; null if neither is given. ConfigError for
/// both.
TokenizerPtr named_tokenizer(const CorpusOptions& options);

/// How documents are told apart in a row of tokens.
enum class DocumentMark {
  end_behind,  ///< the id that ends a document stands behind it
  end_before,  ///< and in llm.c's shards before it
};

/// The parts of a corpus, as a reader of a format (formats/) finds them.
struct CorpusParts {
  std::string format;  ///< "farfield", "megatron", "nanogpt" or "llm.c"
  TokenizerPtr tokenizer;
  std::array<Split, 3> splits;  ///< in the order of kSplits; no tokens: the format has none
  std::string split_rule;       ///< how documents came to their split, in words
  /// Corpus::document_tokens() and Corpus::floor().
  int64_t document_tokens = 0;
  std::optional<double> floor;
  /// Identifies the corpus: a hash of all tokens if the format records their hash, else of sizes,
  /// index and a sample of the tokens.
  std::string hash;
  DocumentMark mark = DocumentMark::end_behind;
  /// For a split, as Corpus::document_begins() returns it; empty if the format has no index.
  std::function<std::vector<int64_t>(size_t split)> document_begins;
  /// For each split whether its last document was cut there, so that it has no end; known if our
  /// converter wrote the corpus.
  std::array<bool, 3> is_cut = {};
  /// Notes for the user, a sentence each: records that the corpus lacks.
  std::vector<std::string> notes;
};

/// A corpus open for reading, in any format; its files are mapped. Copies share the mapping.
class Corpus {
 public:
  /// A folder made by prepare(), a Megatron or GPT-NeoX pair .bin/.idx (either, or the prefix), a
  /// file or folder of nanoGPT's or llm.c's .bin.
  ///
  /// Headers and indices are checked, the ids are not: each is when it is read, and verify() looks
  /// at all. IoError, naming the file, for a missing or damaged part, or parts that do not belong
  /// together; ConfigError for options that do not fit.
  static Corpus open(const std::filesystem::path& path, const CorpusOptions& options = {});

  /// No text: the place of a corpus in a run that is trained on a task. `hash` tells tasks apart.
  static Corpus without_text(TokenizerPtr tokenizer, const std::string& hash);

  /// By name, one of kSplits. ConfigError for another name, and for a split that the format does
  /// not have.
  const Tokens& split(std::string_view name) const;
  const TokenCounts& counts(std::string_view name) const;
  /// Tokens::hash() of a split as its file records it; empty where the format has none.
  const std::string& recorded_hash(std::string_view name) const;
  bool has_split(std::string_view name) const;
  /// CorpusParts::is_cut of a split.
  bool is_cut(std::string_view name) const { return parts_.is_cut[index_of(name)]; }
  /// Whether an index gives the beginnings of documents; else marks among the tokens do, see
  /// mark().
  bool has_index() const { return static_cast<bool>(parts_.document_begins); }
  /// The first token of each document of a split, and at the end the first token after the last
  /// document end. Reads all tokens if the format has no index.
  std::vector<int64_t> document_begins(std::string_view name) const;

  /// Checks every id and compares the recorded hashes. IoError, naming the file, for damage.
  /// Returns the hash of all tokens of each split.
  std::array<std::string, 3> verify(const Tokens::Watch& watch = {}) const;
  /// The same of one split.
  std::string verify(std::string_view name, const Tokens::Watch& watch = {}) const;

  const Tokenizer& tokenizer() const { return *parts_.tokenizer; }
  const TokenizerPtr& shared_tokenizer() const { return parts_.tokenizer; }
  /// Rows an embedding needs: tokenizer().n_vocab() padded to a multiple of 64.
  int64_t vocab_size() const { return padded_vocab_size(parts_.tokenizer->n_vocab()); }
  /// Identifies the corpus: CorpusParts::hash.
  const std::string& hash() const { return parts_.hash; }
  const std::string& format() const { return parts_.format; }
  const std::string& split_rule() const { return parts_.split_rule; }
  DocumentMark mark() const { return parts_.mark; }
  /// If windows of training and evaluation must stay within documents: the common length of the
  /// documents, without the id that ends each. 0: a window may hold parts of several documents.
  int64_t document_tokens() const { return parts_.document_tokens; }
  /// For synthetic text: the cross-entropy of an ideal predictor on the test split, which knows how
  /// each document was drawn, in nats per token, without the first token of each document.
  const std::optional<double>& floor() const { return parts_.floor; }
  /// CorpusParts::notes: for programs to print.
  const std::vector<std::string>& notes() const { return parts_.notes; }

 private:
  explicit Corpus(CorpusParts parts) : parts_(std::move(parts)) {}
  size_t index_of(std::string_view name) const;  // of a split that is there

  CorpusParts parts_;
};

/// Corpus::hash() of the corpus at this path, without opening more than necessary; "" if the path
/// is no corpus, or needs other options. PermissionError if it may not be read.
std::string corpus_hash(const std::filesystem::path& path, const CorpusOptions& options = {});

}  // namespace farfield::data
