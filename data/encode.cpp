#include "data/encode.h"

#include <vector>

#include "engine/base/parallel.h"

namespace farfield::data {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 18;
constexpr size_t kPiecesAtOnce = 16;  // bounds the memory of ids

}  // namespace

void encode_pieces(const Tokenizer& tokenizer, std::string_view text,
                   const std::function<void(std::span<const int32_t>)>& take) {
  std::vector<std::vector<int32_t>> ids(kPiecesAtOnce);
  while (!text.empty()) {
    std::vector<std::string_view> pieces;
    while (!text.empty() && pieces.size() < kPiecesAtOnce) {
      const size_t size =
          text.size() <= kPieceBytes ? text.size() : tokenizer.cut(text, kPieceBytes);
      pieces.push_back(text.substr(0, size));
      text.remove_prefix(size);
    }
    parallel_for(static_cast<int64_t>(pieces.size()), [&](int64_t i) {
      const auto n = static_cast<size_t>(i);
      ids[n].clear();
      tokenizer.encode(pieces[n], ids[n]);
    });
    for (size_t i = 0; i < pieces.size(); ++i) take(ids[i]);
  }
}

}  // namespace farfield::data
