#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace farfield::data {

/// Of train, valid and test in the documents or the bytes of a corpus; each above 0.
using Shares = std::array<int64_t, 3>;
inline constexpr Shares kUsualShares = {90, 5, 5};

/// Without what all three can be divided by, so that 900,50,50 splits as 90,5,5.
Shares reduced(Shares shares);

/// Where train and valid end of `whole`, without overflow.
std::array<uint64_t, 2> cuts(const Shares& shares, uint64_t whole);

/// A rule in words, with the shares where they are not the usual ones.
std::string rule_text(const Shares& shares, const std::string& usual);

/// A document belongs to the first split whose bound is above its hash; the last takes the rest.
struct ShareBounds {
  uint64_t train, valid;
  size_t split_of(uint64_t hash) const { return hash < train ? 0 : hash < valid ? 1 : 2; }
};
ShareBounds bounds_of(const Shares& shares);

/// ConfigError unless each is from 1 to 10^9.
void check_shares(const Shares& shares);

}  // namespace farfield::data
