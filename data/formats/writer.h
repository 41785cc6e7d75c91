#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/source.h"
#include "data/split.h"
#include "data/tokenizer.h"
#include "engine/base/hash.h"

namespace farfield::data {

/// Facts about a corpus besides its documents, known once these are written.
struct WrittenCorpus {
  std::string split_rule;
  std::array<int64_t, 3> bytes = {};  ///< of the text of each split
  std::array<bool, 3> is_cut = {};    ///< CorpusParts::is_cut
  std::vector<SourceRecord> sources;
  /// Corpus::document_tokens() and Corpus::floor(), for formats that have a place for them.
  int64_t document_tokens = 0;
  std::optional<double> floor;
};

/// Writes a corpus in one format: the documents of train, then of valid, then of test. The corpus
/// exists completely after commit(), else not at all; IoError for a full disk.
class DocumentWriter {
 public:
  virtual ~DocumentWriter() = default;
  DocumentWriter(const DocumentWriter&) = delete;
  DocumentWriter& operator=(const DocumentWriter&) = delete;

  /// Ids of the document that is being written, without the one that marks its end. ConfigError for
  /// an id that the format does not hold.
  virtual void append(size_t split, std::span<const int32_t> ids) = 0;
  /// Ends the document; a document without an end was cut, or never had the id.
  virtual void end_document(size_t split, bool has_end) = 0;
  virtual void commit(const WrittenCorpus& corpus) = 0;

  /// Tokens and documents of each split, as a reader will find them, once all are written.
  const std::array<TokenCounts, 3>& counts() const { return counts_; }

 protected:
  explicit DocumentWriter(TokenizerPtr tokenizer) : tokenizer_(std::move(tokenizer)) {}

  const Tokenizer& tokenizer() const { return *tokenizer_; }
  const TokenizerPtr& shared_tokenizer() const { return tokenizer_; }
  /// Tokens::hash() of each split, as far as its ids went through `hashers_`; empty without tokens.
  std::array<std::string, 3> hashes() const;

  std::array<TokenCounts, 3> counts_;
  std::array<Hasher, 3> hashers_;

 private:
  TokenizerPtr tokenizer_;
};

/// The names that make_writer() takes: "farfield", "megatron", "nanogpt", "llm.c".
const std::vector<std::string>& writer_names();

/// A writer of a format. `output` is a folder, for megatron the prefix of the pair. An existing
/// corpus is replaced at commit() if `force` is set; without it, and for anything else at this
/// path, ConfigError. The same for a name that is none of writer_names().
std::unique_ptr<DocumentWriter> make_writer(const std::string& format,
                                            const std::filesystem::path& output,
                                            TokenizerPtr tokenizer, bool force);

}  // namespace farfield::data
