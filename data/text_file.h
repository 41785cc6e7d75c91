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
  bool to_the_end = false;   ///< look through what is not kept, too
  bool allow_binary = false;
  /// A file that decompresses to more than this, and to more than kMaxExpansion times its own size,
  /// is refused: nobody writes text that dense, and all of it would go to disk. 0: any.
  int64_t max_expanded_bytes = 0;
};

inline constexpr int64_t kMaxExpansion = 250;

struct FileText {
  size_t size = 0;     ///< bytes that were handed out
  std::string binary;  ///< what was found instead of text, as for refuse_binary(): then what was
                       ///< handed out is none
};

/// Hands out the text of a whole file as it is there, UTF-8 or not, in pieces; or its first
/// `wanted` bytes, cut between characters, with a few more, so that what replaces an ill-formed
/// sequence finds it whole. `tally` counts the bytes that `reader` takes from the file, named in
/// errors.
FileText read_text(ByteReader& reader, const std::string& file, const Tally& tally,
                   const TextLimits& limits, const std::function<void(std::string_view)>& take);

}  // namespace farfield::data
