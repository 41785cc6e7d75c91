#include "posenc/expression.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace farfield::posenc {
namespace {

constexpr size_t kMaxTerms = 64;
constexpr size_t kMaxListSize = 1024;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_printable(char c) { return c >= ' ' && c <= '~'; }
bool is_bare_file(std::string_view text) {
  return !text.empty() && text[0] != '"' && std::all_of(text.begin(), text.end(), [](char c) {
    return !is_space(c) && c != ',' && c != '(' && c != ')';
  });
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {
    require<ConfigError>(text.size() <= kMaxExpressionSize, "posenc",
                         "expected an expression of at most ", kMaxExpressionSize, " bytes, got ",
                         text.size());
  }

  std::vector<ParsedTerm> expression() {
    std::vector<ParsedTerm> terms;
    do {
      skip_space();
      if (terms.size() == kMaxTerms) refuse(concat("at most ", kMaxTerms, " terms"));
      terms.push_back(term());
      skip_space();
    } while (take('+'));
    if (!at_end()) {
      const ParsedTerm& last = terms.back();
      refuse(last.layers              ? "'+' or the end"
             : last.arguments.empty() ? "'(', '@', '+' or the end"
                                      : "'@', '+' or the end");
    }
    return terms;
  }

 private:
  bool at_end() const { return at_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  size_t column() const { return at_ + 1; }
  void skip_space() {
    while (!at_end() && is_space(text_[at_])) ++at_;
  }
  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  // "expected <what>, got <the next character>" at the present place.
  [[noreturn]] void refuse(const std::string& what) const { refuse_at(at_, what); }
  [[noreturn]] void refuse_at(size_t at, const std::string& what) const {
    std::string got = "the end";
    if (at < text_.size())
      got = is_printable(text_[at]) ? concat("'", text_[at], "'")
                                    : std::string("an unprintable byte");
    fail<ConfigError>("posenc", "expected ", what, ", got ", got, show_place(text_, at + 1));
  }

  std::string word(const std::string& what) {
    if (!starts_word(peek())) refuse(what);
    const size_t begin = at_;
    while (starts_word(peek()) || is_digit(peek())) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  ParsedTerm term() {
    ParsedTerm term;
    term.column = column();
    term.name = word("the name of an encoding");
    skip_space();
    if (take('(')) term.arguments = arguments();
    skip_space();
    if (peek() == '@') term.layers = layers();
    return term;
  }

  std::vector<ParsedArgument> arguments() {
    std::vector<ParsedArgument> list;
    skip_space();
    if (take(')')) return list;
    for (;;) {
      skip_space();
      list.push_back(argument(list.empty()));
      skip_space();
      if (take(')')) return list;
      if (!take(',')) refuse("',' or ')' after an argument");
    }
  }

  ParsedArgument argument(bool first) {
    ParsedArgument argument;
    argument.column = column();
    if (starts_word(peek())) {  // a name, or an unnamed word
      const size_t begin = at_;
      std::string name = word("");
      skip_space();
      if (take('=')) {
        argument.name = std::move(name);
        skip_space();
      } else {
        at_ = begin;
      }
    }
    if (argument.name.empty() && !first)
      refuse("name=value; only the first argument may go without a name");
    argument.value = value();
    return argument;
  }

  Value value() {
    Value value;
    value.column = column();
    if (starts_word(peek())) {
      value.kind = Value::Kind::word;
      value.text = word("");
    } else if (take('[')) {
      value.kind = Value::Kind::list;
      value.list = list();
    } else if (peek() == '"') {
      value.kind = Value::Kind::text;
      value.text = quoted_text();
    } else if (take('@')) {
      value.kind = Value::Kind::file;
      value.text = file();
    } else {
      value.number =
          number("a value (a number, a word, a list in brackets, a quoted text or @file)");
    }
    return value;
  }

  std::vector<double> list() {
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

  std::string quoted_text() {
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

  std::string file() {
    if (peek() == '"') return quoted_text();
    const size_t begin = at_;
    while (!at_end() && is_bare_file(text_.substr(at_, 1))) ++at_;
    if (at_ == begin) refuse("a file name after '@'");
    return std::string(text_.substr(begin, at_ - begin));
  }

  double number(const std::string& what) {
    const size_t begin = at_;
    if (peek() == '+' && at_ + 1 < text_.size() && text_[at_ + 1] != '-') ++at_;
    // from_chars also reads "inf" and "nan", which are not numbers here.
    size_t digits = at_;
    if (digits < text_.size() && text_[digits] == '-') ++digits;
    if (digits >= text_.size() || !(is_digit(text_[digits]) || text_[digits] == '.'))
      refuse_at(begin, what);
    double x = 0;
    const char* const end = text_.data() + text_.size();
    const auto [stop, status] = std::from_chars(text_.data() + at_, end, x);
    if (status == std::errc::result_out_of_range) refuse_at(begin, "a number that fits a float64");
    if (status != std::errc()) refuse_at(begin, what);
    at_ = static_cast<size_t>(stop - text_.data());
    if (starts_word(peek()) || is_digit(peek()) || peek() == '.')
      refuse("the end of the number before it");
    return x;
  }

  int64_t layer() {
    skip_space();
    int64_t layer = 0;
    const auto [stop, status] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), layer);
    // Beyond 32 bits only to stay clear of overflow in arithmetic on layers.
    if (status != std::errc() || std::abs(static_cast<double>(layer)) > 1e9)
      refuse("a layer (an integer; -1 is the last layer)");
    at_ = static_cast<size_t>(stop - text_.data());
    return layer;
  }

  ParsedLayers layers() {
    ParsedLayers layers;
    layers.column = column();
    ++at_;
    layers.first = layers.last = layer();
    skip_space();
    if (take('.')) {
      if (!take('.')) refuse("'..' between two layers");
      layers.last = layer();
    }
    return layers;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

bool Value::same(const Value& other) const {
  return kind == other.kind && number == other.number && text == other.text && list == other.list;
}

std::string to_text(double x) {
  char text[32];
  const auto [end, status] = std::to_chars(text, text + sizeof text, x + 0.0);  // -0 becomes 0
  return std::string(text, status == std::errc() ? end : text);
}

std::string to_text(const Value& value) {
  switch (value.kind) {
    case Value::Kind::number:
      return to_text(value.number);
    case Value::Kind::word:
      return value.text;
    case Value::Kind::text:
      return quoted(value.text);
    case Value::Kind::file:
      return '@' + (is_bare_file(value.text) ? value.text : quoted(value.text));
    case Value::Kind::list:
      break;
  }
  std::string text = "[";
  for (const double x : value.list) {
    if (text.size() > 1) text += ',';
    text += to_text(x);
  }
  return text + ']';
}

std::vector<ParsedTerm> parse_expression(std::string_view text) {
  return Parser(text).expression();
}

std::string show_place(std::string_view text, size_t column) {
  if (column == 0) return "";
  constexpr size_t kAround = 60;
  const size_t at = std::min(column - 1, text.size());
  const size_t begin = at > kAround ? at - kAround : 0;
  std::string line(text.substr(begin, 2 * kAround));
  for (char& c : line) c = is_space(c) ? ' ' : is_printable(c) ? c : '?';
  return concat(" at column ", column, "\n  ", line, "\n  ", std::string(at - begin, ' '), '^');
}

}  // namespace farfield::posenc
