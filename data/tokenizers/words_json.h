#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::data {

/// The words that every such vocabulary begins with.
inline constexpr std::array<std::string_view, 4> kSpecialWords = {"<s>", "<pad>", "</s>", "<unk>"};

/// Whether a tokenizer.json holds words, not BPE. IoError, naming the file, where it is no JSON.
bool is_words_json(std::string_view file, std::string_view text);

/// The words, by id, of the text of a tokenizer.json that words_json_text() wrote, or one that asks
/// for the same; whatever else one asks for is refused by name.
/// Throws    IoError, naming the file
std::vector<std::string> read_words_json(std::string_view file, std::string_view text);

/// Such a text, which Hugging Face's tokenizers loads and tokenizes alike: model WordLevel, white
/// space split, line ends replaced by </s>.
std::string words_json_text(const std::vector<std::string>& words);

}  // namespace farfield::data
