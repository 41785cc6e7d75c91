#include "data/shares.h"

#include <numeric>

#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::data {
namespace {

constexpr int64_t kMostShare = 1'000'000'000;

uint64_t sum_of(const Shares& shares) {
  return static_cast<uint64_t>(shares[0] + shares[1] + shares[2]);
}

}  // namespace

Shares reduced(Shares shares) {
  const int64_t divisor = std::gcd(shares[0], std::gcd(shares[1], shares[2]));
  for (int64_t& share : shares) share /= divisor;
  if (shares == Shares{18, 1, 1}) return kUsualShares;  // whose bounds are old
  return shares;
}

std::array<uint64_t, 2> cuts(const Shares& shares, uint64_t whole) {
  const uint64_t all = sum_of(shares);
  const auto at = [&](int64_t part) {
    const auto n = static_cast<uint64_t>(part);
    return whole / all * n + whole % all * n / all;
  };
  return {at(shares[0]), at(shares[0] + shares[1])};
}

std::string rule_text(const Shares& shares, const std::string& usual) {
  return shares == kUsualShares ? usual : joined(shares, " : ") + ", " + usual;
}

ShareBounds bounds_of(const Shares& shares) {
  const uint64_t all = sum_of(shares);
  const auto at = [&](int64_t part) { return UINT64_MAX / all * static_cast<uint64_t>(part); };
  return {at(shares[0]), at(shares[0] + shares[1])};
}

void check_shares(const Shares& shares) {
  for (const int64_t share : shares)
    require<ConfigError>(share > 0 && share <= kMostShare, "prepare",
                         "--split: expected three shares for train, valid and test, whole numbers "
                         "from 1 to ",
                         kMostShare, " such as 949,50,1, got ", joined(shares, ","),
                         "; each split of a corpus has text");
}

}  // namespace farfield::data
