#pragma once

#include <string_view>

namespace farfield::data {

// Names in error messages for kinds of tokenizers that are not supported.
inline constexpr std::string_view kSentencePiece =
    "a SentencePiece tokenizer (Llama 2 kind), which is not implemented; only byte-level BPE is "
    "read";
inline constexpr std::string_view kWordPiece =
    "a WordPiece tokenizer (BERT kind), which is not implemented; only byte-level BPE is read";

}  // namespace farfield::data
