#include "data/tokenizers/bytes.h"

#include <algorithm>

namespace farfield::data {

ByteTokenizer::ByteTokenizer() : Tokenizer("bytes", "bytes 257 256") {}

void ByteTokenizer::encode(std::string_view text, std::vector<int32_t>& ids) const {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  ids.insert(ids.end(), bytes, bytes + text.size());
}

std::string ByteTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  text.reserve(ids.size());
  for (const int32_t id : ids) {
    check_id(id);
    if (id != end_of_document()) text += static_cast<char>(id);
  }
  return text;
}

size_t ByteTokenizer::cut(std::string_view text, size_t from) const {
  return std::min(from, text.size());
}

}  // namespace farfield::data
