#pragma once

#include <cstdint>
#include <span>

namespace farfield::data {

/// Code points from the first to the last.
struct CodePointRange {
  uint32_t first, last;
};

// What Hugging Face's `tokenizers` makes of code points, by rising number: so that ids depend
// neither on the version of a system's library nor differ from those of that library, whose
// patterns have Unicode 16 and whose normalisation has Unicode 9. unicode_tables.py made them.

/// \p{L}: general categories Lu Ll Lt Lm Lo.
std::span<const CodePointRange> letters();
/// \p{N}: Nd Nl No.
std::span<const CodePointRange> numbers();
/// What normalisation looks at: code points that decompose, change places with marks, or are parts
/// of others. All others stay as they are.
std::span<const CodePointRange> normalized();

}  // namespace farfield::data
