#include "posenc/expression.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/base/utf8.h"
#include "posenc/formula.h"
#include "posenc/scanner.h"

namespace farfield::posenc {
namespace {

constexpr size_t kMaxTerms = 64;

bool is_bare(char c) { return !is_space(c) && c != ',' && c != '(' && c != ')'; }
bool is_bare_file(std::string_view text) {
  return !text.empty() && text[0] != '"' && std::all_of(text.begin(), text.end(), is_bare);
}

// Characters of formulas that do not occur between terms.
bool begins_formula(char c) { return c == '-' || c == '*' || c == '/' || c == '^' || c == '('; }
// Functions, pi and e.
bool is_formula_word(const std::string& word) {
  const std::vector<std::string> words = formula_words();
  return std::find(words.begin(), words.end(), word) != words.end();
}
constexpr const char* kAsFormula = " (a formula is written kernel(bias=...))";

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

class Parser : Scanner {
 public:
  Parser(std::string_view text, FormOf form_of) : Scanner(text), form_of_(form_of) {
    require<ConfigError>(text.size() <= kMaxExpressionSize, "posenc",
                         "expected an expression of at most ", kMaxExpressionSize, " bytes, got ",
                         text.size());
    // The expression of a run is compared with its copy in JSON, which holds UTF-8 only.
    const size_t invalid = find_invalid_utf8(text);
    if (invalid != text.npos) refuse_at(invalid, "an expression in UTF-8");
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
      if (begins_formula(peek()) && last.arguments.empty() && !last.layers)
        refuse(concat("'(', '@', '+' or the end", kAsFormula));
      refuse(last.layers              ? "'+' or the end"
             : last.arguments.empty() ? "'(', '@', '+' or the end"
                                      : "'@', '+' or the end");
    }
    return terms;
  }

 private:
  ParsedTerm term() {
    ParsedTerm term;
    term.column = column();
    if (begins_formula(peek())) refuse(concat("the name of an encoding", kAsFormula));
    term.name = word("the name of an encoding");
    if (is_formula_word(term.name))
      fail<ConfigError>("posenc", "expected the name of an encoding", kAsFormula, ", got '",
                        term.name, "'", show_place(whole(), term.column));
    skip_space();
    if (take('(')) term.arguments = arguments(term.name);
    skip_space();
    if (peek() == '@') term.layers = layers();
    return term;
  }

  std::vector<ParsedArgument> arguments(std::string_view encoding) {
    std::vector<ParsedArgument> all;
    skip_space();
    if (take(')')) return all;
    for (;;) {
      skip_space();
      all.push_back(argument(encoding, all.empty()));
      skip_space();
      if (take(')')) return all;
      if (!take(',')) refuse("',' or ')' after an argument");
    }
  }

  Form form(std::string_view encoding, std::string_view name) const {
    return form_of_ == nullptr ? Form::value : form_of_(encoding, name, peek());
  }

  ParsedArgument argument(std::string_view encoding, bool first) {
    ParsedArgument argument;
    argument.column = column();
    Form as = form(encoding, "");
    if (starts_word(peek())) {  // a name, or an unnamed word
      const size_t begin = at();
      std::string name = word("");
      skip_space();
      const Form named = form(encoding, name);
      if (peek() == '=' || named == Form::declaration) {
        argument.name = std::move(name);
        as = named;
        if (as != Form::declaration && take('=')) skip_space();
      } else {
        move_to(begin);
      }
    }
    if (argument.name.empty() && !first)
      refuse("name=value; only the first argument may go without a name");
    argument.value = as == Form::value         ? value()
                     : as == Form::declaration ? raw(Value::Kind::declaration)
                                               : raw(Value::Kind::formula);
    return argument;
  }

  // All up to the ',' or ')' that ends the argument.
  Value raw(Value::Kind kind) {
    Value value;
    value.kind = kind;
    value.column = column();
    const size_t begin = at();
    std::vector<size_t> open;
    for (; !at_end(); move_to(at() + 1)) {
      const char c = peek();
      if (open.empty() && (c == ',' || c == ')')) break;
      if (c == '(' || c == '[') open.push_back(at());
      if (!open.empty() && (c == ')' || c == ']')) open.pop_back();
    }
    if (!open.empty()) refuse_at(open.back(), "a closing bracket for this one");
    std::string_view text = since(begin);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    value.text = text;
    return value;
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

  std::string file() {
    if (peek() == '"') {
      const size_t place = at();
      std::string name = quoted_text();
      if (name.empty()) refuse_at(place, "a file name after '@'");
      return name;
    }
    const size_t begin = at();
    while (!at_end() && is_bare(peek())) move_to(at() + 1);
    if (at() == begin) refuse("a file name after '@'");
    return std::string(since(begin));
  }

  int64_t layer() {
    skip_space();
    return integer("a layer (an integer; -1 is the last layer)");
  }

  ParsedLayers layers() {
    ParsedLayers layers;
    layers.column = column();
    take('@');
    layers.first = layers.last = layer();
    skip_space();
    if (take('.')) {
      if (!take('.')) refuse("'..' between two layers");
      layers.last = layer();
    }
    return layers;
  }

  FormOf form_of_;
};

}  // namespace

bool Value::same(const Value& other) const {
  return kind == other.kind && number == other.number && text == other.text && list == other.list;
}

std::string to_text(double x) { return shortest(x + 0.0); }  // -0 becomes 0

std::string to_text(const Value& value) {
  switch (value.kind) {
    case Value::Kind::number:
      return to_text(value.number);
    case Value::Kind::word:
      return value.text;
    case Value::Kind::text:
      return in_quotes(value.text);
    case Value::Kind::formula:
    case Value::Kind::declaration:
      return value.text;
    case Value::Kind::file:
      return '@' + (is_bare_file(value.text) ? value.text : in_quotes(value.text));
    case Value::Kind::list:
      break;
  }
  return '[' + joined(value.list, ",", [](double x) { return to_text(x); }) + ']';
}

std::string to_text(const ParsedTerm& term) {
  std::string text = term.name;
  if (!term.arguments.empty())
    text += '(' +
            joined(term.arguments, ", ",
                   [](const ParsedArgument& a) {
                     const bool has_equals =
                         !a.name.empty() && a.value.kind != Value::Kind::declaration;
                     return a.name + (has_equals ? "=" : "") + to_text(a.value);
                   }) +
            ')';
  if (!term.layers) return text;
  text += concat('@', term.layers->first);
  if (term.layers->last != term.layers->first) text += concat("..", term.layers->last);
  return text;
}

ParsedArgument* find_argument(ParsedTerm& term, std::string_view name) {
  const auto found = std::find_if(term.arguments.begin(), term.arguments.end(),
                                  [&](const ParsedArgument& a) { return a.name == name; });
  return found == term.arguments.end() ? nullptr : &*found;
}

std::vector<ParsedTerm> parse_expression(std::string_view text, FormOf form_of) {
  return Parser(text, form_of).expression();
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
