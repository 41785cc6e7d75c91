#pragma once

#include <string>

#include "data/tokenizers/bpe_definition.h"
#include "data/tokenizers/json_part.h"

namespace farfield::data {

// The parts of a tokenizer.json besides its tokens and merges, one file each: NAME_json.cpp. A
// reader puts the part into the definition, and refuses by name what is not implemented; a writer
// gives the part back, as Hugging Face's tokenizers reads it.

/// NFC, and Prepend and Replace for blanks.
void read_normalizer(const JsonPart& part, BpeDefinition& definition);
std::string normalizer_text(const BpeDefinition& definition);

/// Also tells the alphabet: ByteLevel, alone or behind a Split or Digits, is that of bytes;
/// Metaspace or nothing that of characters. Behind read_normalizer().
void read_pre_tokenizer(const JsonPart& part, BpeDefinition& definition);
std::string pre_tokenizer_text(const BpeDefinition& definition);

/// ByteLevel, which changes no id, and TemplateProcessing. Its ids are taken as they are: checked()
/// holds that they are tokens.
void read_post_processor(const JsonPart& part, BpeDefinition& definition);
std::string post_processor_text(const BpeDefinition& definition);

/// Of the alphabet of characters; that of bytes has one decoder, whatever a file says. Behind
/// read_pre_tokenizer().
void read_decoder(const JsonPart& part, BpeDefinition& definition);
std::string decoder_text(const BpeDefinition& definition);

/// {"type": "ByteLevel", ...}, which several parts have.
std::string byte_level_text(bool add_prefix_space, bool trim_offsets, bool use_regex);
/// {"type": "Sequence", NAME: [...]}, or the one step alone.
std::string sequence_text(const char* name, const std::vector<std::string>& steps);

}  // namespace farfield::data
