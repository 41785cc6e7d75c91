#pragma once

#include <cstdint>

#include "data/tokenizers/bpe_definition.h"
#include "data/tokenizers/make.h"

namespace farfield::data {

/// The id that ends documents: as recorded, asked for or told by the usual names; see
/// TokenizerOptions. Tokenizer::kNone: no token does. ConfigError unless exactly one can be meant.
int32_t find_end_of_text(const BpeDefinition& definition, const TokenizerOptions& options);

}  // namespace farfield::data
