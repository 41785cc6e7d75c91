#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "data/tokens.h"

namespace farfield::data {

inline constexpr std::array<std::string_view, 3> kSplits = {"train", "valid", "test"};

/// A count that a format does not record.
inline constexpr int64_t kUnknown = -1;

struct TokenCounts {
  int64_t tokens = 0;
  int64_t documents = 0;  ///< whole documents, and the pieces of documents cut at its ends
  int64_t bytes = 0;      ///< of the text in UTF-8, without what ends a document
};

/// One of kSplits, open for reading.
struct Split {
  Tokens tokens;
  TokenCounts counts;
  std::string hash;  ///< Tokens::hash() as its file records it; empty where the format has none
};

/// Looks at every id and compares the recorded hash: IoError, naming the file, for damage. Returns
/// Tokens::hash().
std::string verify(const Split& split, const Tokens::Watch& watch = {});

}  // namespace farfield::data
