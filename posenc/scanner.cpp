#include "posenc/scanner.h"

#include <charconv>

#include "posenc/expression.h"

namespace farfield::posenc {
namespace {

constexpr size_t kMaxListSize = 1024;

}  // namespace

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_printable(char c) { return c >= ' ' && c <= '~'; }

void Scanner::skip_space() {
  while (!at_end() && is_space(text_[at_])) ++at_;
}

bool Scanner::take(char c) {
  if (at_end() || text_[at_] != c) return false;
  ++at_;
  return true;
}

void Scanner::refuse_at(size_t at, std::string_view what) const {
  std::string got = "the end";
  if (at < text_.size())
    got =
        is_printable(text_[at]) ? concat("'", text_[at], "'") : std::string("an unprintable byte");
  fail<ConfigError>("posenc", "expected ", what, ", got ", got, show_place(text_, at + 1));
}

std::string Scanner::word(std::string_view what) {
  if (!starts_word(peek())) refuse(what);
  const size_t begin = at_;
  while (starts_word(peek()) || is_digit(peek())) ++at_;
  return std::string(since(begin));
}

double Scanner::number(std::string_view what) {
  const size_t begin = at_;
  if (peek() == '+' && at_ + 1 < end_ && text_[at_ + 1] != '-') ++at_;
  // from_chars also reads "inf" and "nan", which are not numbers here.
  size_t digits = at_;
  if (digits < end_ && text_[digits] == '-') ++digits;
  if (digits >= end_ || !(is_digit(text_[digits]) || text_[digits] == '.')) refuse_at(begin, what);
  double x = 0;
  const auto [stop, status] = std::from_chars(text_.data() + at_, text_.data() + end_, x);
  if (status == std::errc::result_out_of_range) refuse_at(begin, "a number that fits a float64");
  if (status != std::errc()) refuse_at(begin, what);
  at_ = static_cast<size_t>(stop - text_.data());
  if (starts_word(peek()) || is_digit(peek()) || peek() == '.')
    refuse("the end of the number before it");
  return x;
}

int64_t Scanner::integer(std::string_view what) {
  int64_t x = 0;
  const auto [stop, status] = std::from_chars(text_.data() + at_, text_.data() + end_, x);
  // Beyond 1e9 only to stay clear of overflow in what is computed with it.
  if (status != std::errc() || x > 1'000'000'000 || x < -1'000'000'000) refuse(what);
  at_ = static_cast<size_t>(stop - text_.data());
  return x;
}

std::vector<double> Scanner::list() {
  std::vector<double> numbers;
  skip_space();
  if (take(']')) return numbers;
  for (;;) {
    skip_space();
    if (numbers.size() == kMaxListSize) refuse(concat("at most ", kMaxListSize, " numbers"));
    numbers.push_back(number("a number"));
    skip_space();
    if (take(']')) return numbers;
    if (!take(',')) refuse("',' or ']' after a number");
  }
}

std::string Scanner::quoted_text() {
  const size_t begin = at_++;
  std::string text;
  while (!take('"')) {
    if (at_end()) refuse_at(begin, "a closing '\"' for this one");
    if (peek() == '\\') {
      ++at_;
      if (peek() != '"' && peek() != '\\') refuse("'\"' or '\\' after '\\'");
    }
    text += text_[at_++];
  }
  return text;
}

}  // namespace farfield::posenc
