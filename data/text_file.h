#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "data/byte_reader.h"

namespace farfield::data {

struct TextLimits {
  size_t wanted = SIZE_MAX;  ///< so many bytes of text are enough: no more than a few are kept
  bool to_the_end = false;   ///< also check text that is not kept
  bool allow_binary = false;
  /// A file that decompresses to more than this, and to more than kMaxExpansion times its own size,
  /// is refused: real text is not that compressible, and all of it would go to disk. 0: no limit.
  int64_t max_expanded_bytes = 0;
};

inline constexpr int64_t kMaxExpansion = 250;

struct FileText {
  size_t size = 0;     ///< bytes handed out
  std::string binary;  ///< what the file is instead of text, as for refuse_binary(); then the bytes
                       ///< handed out are no text
};

/// Passes on the text of a whole file unchanged, UTF-8 or not, in pieces; or its first `wanted`
/// bytes, cut between characters, and a few more, so that an ill-formed sequence at the end is
/// complete. `tally` counts the bytes that `reader` takes from the file, named in errors.
FileText read_text(ByteReader& reader, const std::string& file, const Tally& tally,
                   const TextLimits& limits, const std::function<void(std::string_view)>& take);

}  // namespace farfield::data
