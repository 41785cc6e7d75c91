#include "data/tokenizer.h"

#include "engine/base/error.h"
#include "engine/base/hash.h"

namespace farfield::data {

std::vector<std::string> tokenizer_names() { return {"bytes"}; }

Tokenizer Tokenizer::make(std::string_view name) {
  require<ConfigError>(name == "bytes", "tokenizer",
                       "expected the name of a tokenizer (bytes), got '", name, "'",
                       did_you_mean(name, tokenizer_names()));
  return Tokenizer(name);
}

std::string Tokenizer::hash() const {
  return hash_hex(concat(name_, ' ', n_vocab(), ' ', end_of_document()));
}

void Tokenizer::encode(std::string_view text, std::vector<int32_t>& ids) const {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  ids.insert(ids.end(), bytes, bytes + text.size());
}

void Tokenizer::encode_pieces(std::string_view text,
                              const std::function<void(std::span<const int32_t>)>& take) const {
  constexpr size_t kPieceBytes = size_t{1} << 20;  // a byte's id does not depend on its neighbours
  std::vector<int32_t> ids;
  for (size_t at = 0; at < text.size(); at += kPieceBytes) {
    ids.clear();
    encode(text.substr(at, kPieceBytes), ids);
    take(ids);
  }
}

std::string Tokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  text.reserve(ids.size());
  for (const int32_t id : ids) {
    require<IoError>(id >= 0 && id < n_vocab(), "tokenizer", "expected ids from 0 to ",
                     n_vocab() - 1, ", got ", id);
    if (id != end_of_document()) text += static_cast<char>(id);
  }
  return text;
}

int64_t padded_vocab_size(int64_t n_vocab) { return (n_vocab + 63) / 64 * 64; }

}  // namespace farfield::data
