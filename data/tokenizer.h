#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::data {

/// Text to token ids and back. The implementations are in tokenizers/; make_tokenizer() makes the
/// one that a user names. Tokenizers are immutable and may be shared by threads.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  /// Its name: "bytes", "gpt2", or the name of its file.
  const std::string& name() const { return name_; }
  /// Differs between tokenizers that give different ids for a text; does not depend on the name if
  /// there is a file().
  const std::string& hash() const { return hash_; }
  /// Its tokenizer.json as text, for corpora and runs to keep; empty for a built-in tokenizer,
  /// which its name identifies.
  const std::string& file() const { return file_; }

  /// Ids are below this.
  virtual int64_t n_vocab() const = 0;
  /// The id behind each document; kNone: no token ends documents.
  virtual int32_t end_of_document() const = 0;
  static constexpr int32_t kNone = -1;
  /// Whether the text of ids is known: if not, only token files can be read.
  virtual bool has_text() const { return true; }

  /// The ids that its models expect in front of a text and behind it, as its file says: that of
  /// <s>, for example. encode() adds neither, and no corpus has them.
  virtual std::span<const int32_t> begin_of_text() const { return {}; }
  virtual std::span<const int32_t> end_of_text() const { return {}; }

  /// Appends the ids of the text to `ids`. IoError for bytes without an id.
  virtual void encode(std::string_view text, std::vector<int32_t>& ids) const = 0;
  /// The bytes that the ids stand for; none for an id that the vocabulary leaves out. IoError for
  /// one outside [0, n_vocab()).
  virtual std::string decode(std::span<const int32_t> ids) const = 0;
  /// The same for ids with others before them. It differs where encode() puts a blank in front of a
  /// text, which decode() takes away.
  virtual std::string decode_within(std::span<const int32_t> ids) const { return decode(ids); }

  /// The first place at or after `from` where a longer text can be cut: encode() of the two parts,
  /// joined, equals encode() of the whole. text.size() if there is none before the end. A place
  /// followed by at least kCutContext bytes stays valid if the text goes on.
  virtual size_t cut(std::string_view text, size_t from) const = 0;

 protected:
  /// Without a file, the hash is taken of the description.
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

/// The file name under which Tokenizer::file() is stored.
inline constexpr std::string_view kTokenizerFile = "tokenizer.json";

/// Rows of an embedding for n_vocab ids: rounded up to a multiple of 64, which matrix products
/// like. The ids beyond n_vocab never occur in data.
int64_t padded_vocab_size(int64_t n_vocab);

}  // namespace farfield::data
