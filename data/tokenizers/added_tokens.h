#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace farfield::data {

/// Finds added tokens in a text before anything else: the leftmost first, and of several at one
/// place the longest.
class AddedTokens {
 public:
  /// The strings to find, each with a number of at least 0. Longer strings than kMostBytes would
  /// make a hostile text slow to search.
  void add(std::string_view content, int32_t number);
  static constexpr size_t kMostBytes = 1024;

  bool empty() const { return next_.empty(); }

  struct Match {
    size_t begin, size;
    int32_t number;  ///< -1: there is none, and it begins at the end of the text
  };
  Match find(std::string_view text, size_t from) const;

 private:
  static size_t pair(std::string_view text, size_t at) {
    return size_t{static_cast<unsigned char>(text[at])} << 8 |
           static_cast<unsigned char>(text[at + 1]);
  }
  Match longest_at(std::string_view text, size_t at) const;

  std::bitset<65536> pairs_;     // two bytes that some string may begin with
  std::bitset<256> singles_;     // strings of one byte
  std::vector<int32_t> number_;  // of the string that ends in a node of the tree, or -1
  std::unordered_map<uint64_t, uint32_t> next_;  // node and byte to node
};

}  // namespace farfield::data
