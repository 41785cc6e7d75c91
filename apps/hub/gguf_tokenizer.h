#pragma once

#include <cstdint>
#include <string>

#include "apps/hub/gguf_writer.h"
#include "data/tokenizer.h"

namespace farfield::hub {

/// Adds the pairs of a tokenizer to those of a model with `n_row` rows of vocabulary, or of none
/// where llama.cpp gives other ids than the tokenizer (null: the run has none). Returns what a user
/// has to know of that, a sentence; empty where all ids are the same.
std::string add_gguf_tokenizer(const data::Tokenizer* tokenizer, int64_t n_row, GgufMetadata& to);

}  // namespace farfield::hub
