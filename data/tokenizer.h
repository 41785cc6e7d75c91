#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::data {

/// Text to token ids and back. One exists so far, "bytes": id = byte, and 256 ends a document.
class Tokenizer {
 public:
  /// ConfigError for an unknown name, with the nearest known one.
  static Tokenizer make(std::string_view name);

  const std::string& name() const { return name_; }
  /// Ids are below this.
  int64_t n_vocab() const { return 257; }
  /// The id behind each document.
  int32_t end_of_document() const { return 256; }
  /// Tells tokenizers apart that give other ids for the same text.
  std::string hash() const;

  /// Puts the ids of the text behind those in `ids`. Never end_of_document().
  void encode(std::string_view text, std::vector<int32_t>& ids) const;
  /// The same a piece at a time, so that the ids of a long text need little memory.
  void encode_pieces(std::string_view text,
                     const std::function<void(std::span<const int32_t>)>& take) const;
  /// The bytes that the ids stand for; none for end_of_document(). IoError for an id that does not
  /// exist.
  std::string decode(std::span<const int32_t> ids) const;

 private:
  explicit Tokenizer(std::string_view name) : name_(name) {}

  std::string name_;
};

/// Names that Tokenizer::make() takes.
std::vector<std::string> tokenizer_names();

/// Rows of an embedding for n_vocab ids: rounded up to a multiple of 64, which matrix products
/// like. The ids beyond n_vocab never occur in data.
int64_t padded_vocab_size(int64_t n_vocab);

}  // namespace farfield::data
