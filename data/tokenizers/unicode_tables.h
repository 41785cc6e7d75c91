#pragma once

#include <cstdint>
#include <span>

namespace farfield::data {

/// Code points from the first to the last.
struct CodePointRange {
  uint32_t first, last;
};

// The properties that Hugging Face's `tokenizers` gives to code points, in rising order. With these
// tables token ids do not depend on a system library, and equal the ids of `tokenizers`, whose
// patterns use Unicode 16 and whose normalisation uses Unicode 9. unicode_tables.py made them.

/// \p{L}: general categories Lu Ll Lt Lm Lo.
std::span<const CodePointRange> letters();
/// \p{N}: Nd Nl No.
std::span<const CodePointRange> numbers();
/// \w, for added tokens that are single words: letters, marks, decimal digits, connectors.
std::span<const CodePointRange> in_words();
/// Code points that matter to normalisation: they decompose, change places with marks, or are parts
/// of others. All others stay as they are.
std::span<const CodePointRange> normalized();

}  // namespace farfield::data
