#pragma once

#include <string>
#include <string_view>

#include "data/tokenizers/bpe_definition.h"

namespace farfield::data {

/// The definition in a rank file of tiktoken: a line for each token, its bytes in base64 and its
/// rank, which is its id. Such a file does not hold its pattern: `pattern` names it, gpt2 or
/// cl100k_base, and implies tiktoken's special tokens.
/// Throws    ConfigError for another pattern or none, IoError for a damaged file
BpeDefinition read_tiktoken(std::string_view file, std::string_view text,
                            const std::string& pattern);

/// Whether the text begins as such a file does.
bool looks_like_tiktoken(std::string_view text);

}  // namespace farfield::data
