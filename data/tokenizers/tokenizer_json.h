#pragma once

#include <string>
#include <string_view>

#include "data/tokenizers/bpe_definition.h"

namespace farfield::data {

/// The definition in the text of a tokenizer.json as Hugging Face's tokenizers writes it, of
/// byte-level BPE. Any other setting that would change the ids is refused by name.
/// Throws    IoError, naming the file
BpeDefinition read_tokenizer_json(std::string_view file, std::string_view text);

/// Such a text, which Hugging Face's tokenizers loads and tokenizes alike. Equal definitions give
/// equal texts, and reading it gives the definition back.
std::string tokenizer_json_text(const BpeDefinition& definition);

}  // namespace farfield::data
