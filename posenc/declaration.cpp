#include "posenc/declaration.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "posenc/expression.h"
#include "posenc/scanner.h"

namespace farfield::posenc {
namespace {

std::string list_text(const std::vector<double>& values) {
  Value value;
  value.kind = Value::Kind::list;
  value.list = values;
  return to_text(value);
}

constexpr double kMost = std::numeric_limits<float>::max();  // of a number stored as float32

class DeclarationParser : Scanner {
 public:
  DeclarationParser(std::string_view text, size_t begin, size_t size, Declaration& declaration)
      : Scanner(text, begin, size), text_(text), declared_(declaration) {}

  void parse() {
    skip_space();
    if (take('>')) lower_bound();
    skip_space();
    if (take('<')) upper_bound();
    check_size("bounds", declared_.column, {declared_.least, declared_.most});
    check_at(declared_.least < declared_.most, declared_.column, "expected bounds with numbers ",
             "between them, got >=", to_text(declared_.least), "<=", to_text(declared_.most));
    skip_space();
    if (take('~'))
      drawn();
    else if (take('='))
      given();
    else
      refuse(
          concat("how ", declared_.name, " starts, ~U(low,high), =number or =[a number per head]"));
    skip_space();
    if (!at_end()) refuse(concat("',' or ')' after the initial value of ", declared_.name));
  }

 private:
  template <class... Parts>
  void check_at(bool ok, size_t column, const Parts&... parts) const {
    require<ConfigError>(ok, "posenc", "parameter ", declared_.name, ": ", concat(parts...),
                         show_place(text_, column));
  }

  // A missing bound is infinite.
  void check_size(const char* what, size_t column, const std::vector<double>& values) const {
    for (const double x : values)
      check_at(std::isinf(x) || std::abs(x) <= kMost, column, "expected ", what, " from ",
               to_text(-kMost), " to ", to_text(kMost), ", which float32 can hold, got ",
               to_text(x));
  }

  void lower_bound() {
    if (take('=')) {
      skip_space();
      declared_.least = number("a lower bound after '>='");
      return;
    }
    skip_space();
    const size_t at_number = column();
    check_at(number("0 after '>'") == 0, at_number, "expected 0 after '>' (at least ",
             to_text(kLeastPositive), "); write ", declared_.name, ">=c for another bound");
    declared_.least = kLeastPositive;
  }

  void upper_bound() {
    if (!take('=')) refuse("'=' after '<', as in r<=2");
    skip_space();
    declared_.most = number("an upper bound after '<='");
  }

  void drawn() {
    skip_space();
    declared_.start_column = column();
    const auto expect = [this](bool ok) {
      if (!ok) refuse(concat("U(low,high) after ", declared_.name, '~'));
    };
    expect(take('U'));
    skip_space();
    expect(take('('));
    skip_space();
    declared_.low = number("the lower end of U(low,high)");
    skip_space();
    expect(take(','));
    skip_space();
    declared_.high = number("the upper end of U(low,high)");
    skip_space();
    expect(take(')'));
    check_size("initial values", declared_.start_column, {declared_.low, declared_.high});
    check_at(declared_.low < declared_.high, declared_.start_column,
             "expected low < high in U(low,high)");
    check_at(declared_.low <= declared_.most && declared_.high > declared_.least,
             declared_.start_column, "expected initial values ", bounds(), ", got U(",
             to_text(declared_.low), ',', to_text(declared_.high), ')');
  }

  void given() {
    skip_space();
    declared_.start_column = column();
    declared_.is_list = take('[');
    if (declared_.is_list)
      declared_.values = list();
    else
      declared_.values = {number("a number, or a list in brackets with a number per head")};
    check_at(!declared_.values.empty(), declared_.start_column,
             "expected one number per head, got none");
    check_size("initial values", declared_.start_column, declared_.values);
    for (const double x : declared_.values)
      check_at(x >= declared_.least && x <= declared_.most, declared_.start_column,
               "expected initial values ", bounds(), ", got ", to_text(x));
  }

  std::string bounds() const {
    std::string text;
    if (std::isfinite(declared_.least)) text = ">= " + to_text(declared_.least);
    if (std::isfinite(declared_.most))
      text += (text.empty() ? "<= " : " and <= ") + to_text(declared_.most);
    return text;
  }

  std::string_view text_;
  Declaration& declared_;
};

}  // namespace

std::string Declaration::text() const {
  std::string text = name;
  if (std::isfinite(least)) text += least == kLeastPositive ? ">0" : ">=" + to_text(least);
  if (std::isfinite(most)) text += "<=" + to_text(most);
  if (is_drawn()) return concat(text, "~U(", to_text(low), ',', to_text(high), ')');
  return text + '=' + (is_list ? list_text(values) : to_text(values[0]));
}

Declaration parse_declaration(std::string_view text, std::string name, size_t column, size_t begin,
                              size_t size) {
  Declaration declaration;
  declaration.name = std::move(name);
  declaration.column = column;
  DeclarationParser(text, begin, size, declaration).parse();
  return declaration;
}

}  // namespace farfield::posenc
