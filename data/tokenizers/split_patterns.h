#pragma once

#include <array>
#include <string_view>

#include "data/tokenizers/pre_tokenizer.h"

namespace farfield::data {

/// A pattern as the Split of a tokenizer.json writes it. The library that reads it there takes $
/// for the end of a line, and {1,3}+ for repeats of {1,3}: so not quite as tiktoken has them.
struct SplitPattern {
  Pattern pattern;
  std::string_view text;
};
inline constexpr std::array<SplitPattern, 5> kSplitPatterns = {{
    {Pattern::cl100k_base,
     R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+\z|\s*[\r\n]|\s+(?!\S)|\s)"},
    {Pattern::cl100k_lines,
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {Pattern::qwen2,
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {Pattern::bloom,
     " ?[^(\\s|[.,!?\xE2\x80\xA6\xE3\x80\x82\xEF\xBC\x8C\xE3\x80\x81\xE0\xA5\xA4\xDB\x94\xD8\x8C])]"
     "+"},
    {Pattern::gpt2,
     R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"},
}};

}  // namespace farfield::data
