#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::posenc {

/// Reads tokens from a range of a text, and says where in the whole text something else stands.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : Scanner(text, 0, text.size()) {}
  Scanner(std::string_view text, size_t begin, size_t size)
      : text_(text), at_(begin), end_(begin + size) {}

  bool at_end() const { return at_ == end_; }
  /// The next character; '\0' at the end.
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  size_t at() const { return at_; }
  size_t column() const { return at_ + 1; }
  void move_to(size_t at) { at_ = at; }
  void skip_space();
  /// Whether the next character is c, which is then passed.
  bool take(char c);
  std::string_view whole() const { return text_; }
  std::string_view since(size_t begin) const { return text_.substr(begin, at_ - begin); }

  /// Throws ConfigError "[posenc] expected <what>, got <the next character> at column C" and the
  /// place.
  [[noreturn]] void refuse(std::string_view what) const { refuse_at(at_, what); }
  [[noreturn]] void refuse_at(size_t at, std::string_view what) const;

  /// A letter or "_", then letters, digits and "_". Anything else is refused: "expected <what>".
  std::string word(std::string_view what);
  /// A number with an optional sign, in the range of a float64.
  double number(std::string_view what);
  /// An integer of at most 1e9 in absolute value.
  int64_t integer(std::string_view what);
  /// Numbers in brackets, the opening one passed already.
  std::vector<double> list();
  /// What stands between quotes; \" and \\ stand for " and \.
  std::string quoted_text();

 private:
  std::string_view text_;
  size_t at_, end_;
};

bool is_space(char c);
bool is_digit(char c);
bool starts_word(char c);
bool is_printable(char c);

}  // namespace farfield::posenc
