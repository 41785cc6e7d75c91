#pragma once

#include <string_view>

#include "data/tokenizers/bpe_definition.h"

namespace farfield::data {

/// A file and its text.
struct NamedText {
  std::string_view file, text;
};

/// The definition in the two files that GPT-2 came in: encoder.json or vocab.json, from string to
/// id, and vocab.bpe or merges.txt, a merge a line. <|endoftext|> is a special token.
/// Throws    IoError, naming the file
BpeDefinition read_vocab_merges(const NamedText& vocabulary, const NamedText& merges);

}  // namespace farfield::data
