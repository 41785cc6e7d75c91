#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/run/load_run.h"
#include "data/tokenizer.h"

namespace farfield::generation {

/// The text of --prompt: "@FILE" is the content of a file, "-" standard input, anything else
/// itself. IoError for what cannot be read.
std::string read_prompt(const std::string& word);

/// The tokenizer of a run that continues text. ConfigError for any other run: of a task, of an
/// encoder, and of tokens whose text is not known.
data::TokenizerPtr text_tokenizer_of(const run::LoadedRun& run);

/// The tokens of the prompt. Where it has none, the token that ends documents, which each document
/// but the first of a corpus comes behind; ConfigError if the tokenizer has none.
std::vector<int32_t> tokens_of_prompt(const data::Tokenizer& tokenizer, const std::string& prompt);

}  // namespace farfield::generation
