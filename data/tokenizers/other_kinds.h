#pragma once

#include <string_view>

namespace farfield::data {

// Names in error messages for kinds of tokenizers that are not supported.
inline constexpr std::string_view kSentencePiece =
    "a SentencePiece tokenizer (Llama 2 kind) in a file of its own, which is not implemented; save "
    "its tokenizer.json with the transformers library";
inline constexpr std::string_view kUnigram =
    "a SentencePiece tokenizer of model Unigram, or one whose normalizer is Precompiled, which is "
    "not implemented";
inline constexpr std::string_view kWordPiece =
    "a WordPiece tokenizer (BERT kind), which is not implemented; only BPE is read";

}  // namespace farfield::data
