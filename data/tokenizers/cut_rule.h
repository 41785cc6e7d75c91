#pragma once

#include <bitset>
#include <cstddef>
#include <string_view>

#include "data/tokenizers/bpe_definition.h"

namespace farfield::data {

/// Where a text can be cut without another id: see Tokenizer::cut().
class CutRule {
 public:
  /// `pattern` as the tokenizer uses it, be it the definition's or one of the same ids.
  CutRule(const BpeDefinition& definition, Pattern pattern);

  size_t find(std::string_view text, size_t from) const;

 private:
  void add(const BpeDefinition& definition, const AddedToken& token);
  bool keeps_apart(std::string_view text, size_t at) const;

  Pattern pattern_;
  bool is_at_line_ends_;
  bool is_nowhere_;
  std::bitset<129 * 128> joined_;  // a byte, 128 for those above, with one of ASCII behind it
};

}  // namespace farfield::data
