#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "data/tokenizer.h"

namespace farfield::data {

/// The ids of a text, handed out a piece at a time in the order of the text. Pieces are encoded
/// side by side, on the threads of parallel_for(); where the text is cut, and so what is handed
/// out, does not depend on their number.
void encode_pieces(const Tokenizer& tokenizer, std::string_view text,
                   const std::function<void(std::span<const int32_t>)>& take);

}  // namespace farfield::data
