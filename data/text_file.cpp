#include "data/text_file.h"

#include <algorithm>
#include <vector>

#include "data/binary.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"

namespace farfield::data {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 18;
constexpr size_t kMoreThanWanted = 4;  // of the longest sequence of UTF-8

}  // namespace

FileText read_text(ByteReader& reader, const std::string& file, const Tally& tally,
                   const TextLimits& limits) {
  FileText result;
  std::string& text = result.text;
  std::string& binary = result.binary;
  const int64_t stored_before = tally.size_bytes;
  // Twice, so that a cut between characters leaves the first few.
  const size_t most = limits.wanted + std::min(2 * kMoreThanWanted, SIZE_MAX - limits.wanted);
  std::vector<char> block(kBlockBytes);
  bool is_first = true;
  while (const size_t got = reader.read(block.data(), block.size())) {
    const std::string_view piece(block.data(), got);
    if (!limits.allow_binary && binary.empty()) {
      if (is_first) binary = known_binary(piece);
      if (binary.empty() && piece.find('\0') != std::string_view::npos)
        binary = "a NUL byte, which no text holds";
      if (!binary.empty()) text = {};
    }
    is_first = false;
    const std::string_view kept = binary.empty() ? piece.substr(0, most - text.size()) : "";
    const int64_t stored = tally.size_bytes - stored_before;
    const auto size = static_cast<int64_t>(text.size() + kept.size());
    require<IoError>(limits.max_expanded_bytes == 0 || size <= limits.max_expanded_bytes ||
                         size / kMaxExpansion <= stored,
                     "data", file, ": expected text, got a file that grows to more than ",
                     limits.max_expanded_bytes, " bytes from ", stored,
                     "; --max-line 0 reads it all the same, if memory suffices");
    text.append(kept);
    if (!limits.to_the_end && (!binary.empty() || text.size() == most)) break;
  }
  if (text.size() > limits.wanted) cut_utf8(text, limits.wanted + kMoreThanWanted);
  return result;
}

}  // namespace farfield::data
