#pragma once

#include <string_view>

namespace farfield::data {

// What an error calls tokenizers that are not read, in files of any form.
inline constexpr std::string_view kSentencePiece =
    "a SentencePiece tokenizer (Llama 2 kind), which is not implemented; only byte-level BPE is "
    "read";
inline constexpr std::string_view kWordPiece =
    "a WordPiece tokenizer (BERT kind), which is not implemented; only byte-level BPE is read";

}  // namespace farfield::data
