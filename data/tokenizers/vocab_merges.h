#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizers/bpe_definition.h"

namespace farfield::data {

/// A file and its text.
struct NamedText {
  std::string file = {}, text = {};
};

/// Files that `transformers` stores beside the two files of a vocabulary; an empty text: no such
/// file.
struct VocabularySiblings {
  /// Tokens with their ids.
  NamedText added_tokens = {};
  /// Which tokens are special.
  NamedText special_tokens_map = {};
  /// Both of these, in newer folders, and more.
  NamedText tokenizer_config = {};
};

/// The definition in the two files that GPT-2 came in: encoder.json or vocab.json, from string to
/// id, and vocab.bpe or merges.txt, a merge a line. <|endoftext|> is a special token, and so are
/// the special tokens in the siblings; settings that are not implemented are refused by name.
/// Throws    IoError, naming the file
BpeDefinition read_vocab_merges(const NamedText& vocabulary, const NamedText& merges,
                                const VocabularySiblings& siblings = {});

}  // namespace farfield::data
