#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::data {

/// From the bytes of tokens to their ids. The strings must stay where they are.
class TokenIds {
 public:
  /// Empty strings are no tokens. The first of equal ones is found.
  explicit TokenIds(std::span<const std::string> tokens);

  /// -1: no token.
  int32_t find(std::string_view bytes) const;
  /// The id of a token whose bytes another one has too; -1: there is none.
  int32_t twice() const { return twice_; }

 private:
  size_t place(std::string_view bytes) const;  // of the token, or where it would be

  std::span<const std::string> tokens_;
  std::vector<int32_t> slots_;  // open addressing; -1: empty
  int32_t twice_ = -1;
};

}  // namespace farfield::data
