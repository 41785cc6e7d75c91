#include "data/tokenizers/cut_rule.h"

#include <algorithm>
#include <string>

#include "data/tokenizers/unicode.h"

namespace farfield::data {
namespace {

size_t pair_of_bytes(char before, char ascii) {
  const auto limited = std::min<unsigned char>(static_cast<unsigned char>(before), 128);
  return size_t{limited} * 128 + static_cast<unsigned char>(ascii);
}

constexpr std::string_view kPlaces = " \n";

bool is_cut_at_blanks(Pattern pattern) {
  return pattern == Pattern::blanks || pattern == Pattern::blank_runs;
}

}  // namespace

// With a blank put in front of each text a second part would have one too many, unless none is put
// before another blank.
CutRule::CutRule(const BpeDefinition& d, Pattern pattern)
    : pattern_(pattern),
      is_at_line_ends_(d.alphabet == Alphabet::bytes && !d.add_prefix_space),
      is_nowhere_(pattern == Pattern::none ||
                  (d.blanks.step == BlankRule::Step::normalizer &&
                   d.blanks.in_front != BlankInFront::never) ||
                  (d.alphabet == Alphabet::characters && d.blanks.step == BlankRule::Step::none)) {
  for (const AddedToken& token : d.added) add(d, token);
}

void CutRule::add(const BpeDefinition& d, const AddedToken& token) {
  // A normalised token may have a marked blank where the text has one.
  std::string content = searched(d, token);
  if (d.blanks.step == BlankRule::Step::normalizer) content = unmark_blanks(content);
  for (size_t i = 0; i + 1 < content.size(); ++i)
    if (static_cast<unsigned char>(content[i + 1]) < 128)
      joined_.set(pair_of_bytes(content[i], content[i + 1]));
  for (const char place : kPlaces) {
    // It takes along what is behind it.
    if (token.strips_right) joined_.set(pair_of_bytes(content.back(), place));
    // What is before it decides whether it is one.
    if (token.is_single_word && content.front() == place)
      for (int before = 0; before <= 128; ++before)
        joined_.set(pair_of_bytes(static_cast<char>(before), place));
  }
}

// Whether the pattern has no piece across the place before a blank or a line end.
bool CutRule::keeps_apart(std::string_view text, size_t at) const {
  const auto [type, size] = symbol_before(text, at);
  if (type == CharClass::space) return false;
  if (is_cut_at_blanks(pattern_)) return !text.substr(0, at).ends_with(kMarkedBlank);
  if (type != CharClass::other) return true;
  if (pattern_ == Pattern::bloom) return !parts_bloom_words(text, at - size);
  return text[at] != '\n' || pattern_ == Pattern::gpt2 || pattern_ == Pattern::gpt2_digits;
}

// Before a blank or a line end of ASCII, behind anything that is no white space. No pattern has a
// piece with such a pair in it, nor looks across: what comes before ends its run there as it would
// at the end of a text, and from the white space on nothing asks what came before. Two exceptions:
// behind punctuation the kinds of cl100k_base take line ends along, and bloom all white space. A
// blank or line end neither changes nor moves in NFC, and nothing composes with it. No added token
// holds the pair, so none reaches across. In front of a blank no other blank is put.
size_t CutRule::find(std::string_view text, size_t from) const {
  if (is_nowhere_ || from >= text.size()) return text.size();
  for (size_t at = std::max<size_t>(from, 1); at < text.size(); ++at) {
    const char space = text[at];
    if (space != ' ' && (space != '\n' || !is_at_line_ends_)) continue;
    if (keeps_apart(text, at) && !joined_[pair_of_bytes(text[at - 1], space)]) return at;
  }
  return text.size();
}

}  // namespace farfield::data
