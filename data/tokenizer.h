#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::data {

/// Text to token ids and back. The ways of doing it are in tokenizers/; make_tokenizer() gives the
/// one that a user names. None changes once it is made, so all who need it share it, on any thread.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  /// What people call it: "bytes", "gpt2", or the name of its file.
  const std::string& name() const { return name_; }
  /// Tells tokenizers apart that give other ids for the same text; the name has no part in it
  /// where there is a file().
  const std::string& hash() const { return hash_; }
  /// The text of the tokenizer.json that holds it, for corpora and runs to keep; empty where it is
  /// built in and its name says all.
  const std::string& file() const { return file_; }

  /// Ids are below this.
  virtual int64_t n_vocab() const = 0;
  /// The id behind each document; kNone: no token ends documents.
  virtual int32_t end_of_document() const = 0;
  static constexpr int32_t kNone = -1;
  /// Whether the text of ids is known: if not, only token files can be read.
  virtual bool has_text() const { return true; }

  /// Puts the ids of the text behind those in `ids`. IoError for bytes that it has no id for.
  virtual void encode(std::string_view text, std::vector<int32_t>& ids) const = 0;
  /// The bytes that the ids stand for; none for an id that the vocabulary leaves out. IoError for
  /// one outside [0, n_vocab()).
  virtual std::string decode(std::span<const int32_t> ids) const = 0;

  /// The first place at or behind `from` where a longer text can be cut: what encode() gives for
  /// the two parts, one after the other, is what it gives for the whole. text.size() when there is
  /// none before the end. Where the text goes on, a place with kCutContext bytes or more behind it
  /// is one all the same.
  virtual size_t cut(std::string_view text, size_t from) const = 0;

 protected:
  /// Of a tokenizer without a file its description is what the hash is of.
  Tokenizer(std::string name, std::string_view description);
  /// The file as tokenizers/tokenizer_json.h writes it.
  struct File {
    std::string text;
  };
  Tokenizer(std::string name, File file);

  /// IoError unless the id is from 0 to n_vocab() - 1.
  void check_id(int32_t id) const;

 private:
  std::string name_, file_, hash_;
};

/// See Tokenizer::cut().
inline constexpr size_t kCutContext = 4096;

using TokenizerPtr = std::shared_ptr<const Tokenizer>;

/// What Tokenizer::file() is called where it is kept.
inline constexpr std::string_view kTokenizerFile = "tokenizer.json";

/// Rows of an embedding for n_vocab ids: rounded up to a multiple of 64, which matrix products
/// like. The ids beyond n_vocab never occur in data.
int64_t padded_vocab_size(int64_t n_vocab);

}  // namespace farfield::data
