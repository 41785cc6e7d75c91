#include "posenc/formula.h"

#include <algorithm>
#include <numbers>
#include <optional>

#include "engine/autograd.h"
#include "engine/base/did_you_mean.h"
#include "engine/ops.h"
#include "posenc/expression.h"
#include "posenc/scanner.h"

namespace farfield::posenc {
namespace {

constexpr size_t kMaxNesting = 100;  // parentheses, signs and powers within each other
constexpr size_t kMaxNodes = 1000;

// 1 where y is 0 for this x alone, and its slope there infinite; else 0.
Tensor where_steep(const Tensor& base, const Tensor& exponent) {
  const NoGrad no_grad;
  return (1.0 - heaviside(absolute(base))) * heaviside(exponent) * heaviside(1.0 - exponent);
}

// f(x), with f(0) = 0, flat where x = 0 and the exponent of f is below 1.
template <class F>
Tensor root(const Tensor& x, const Tensor& exponent, const F& f) {
  if (!x.needs_grad()) return f(x);
  const Tensor steep = where_steep(x, exponent), rest = 1.0 - steep;
  return f(x * rest + steep) * rest;  // there: f(1) * 0, from a constant
}

Tensor power(const Tensor& a, const Tensor& b) {
  return root(a, b, [&](const Tensor& x) { return pow(x, b); });
}
Tensor square_root(const Tensor& x) {
  const Tensor half = Tensor::full({}, 0.5, DType::f64, x.device());
  return root(x, half, [](const Tensor& y) { return sqrt(y); });
}

struct Function {
  std::string_view name;
  Tensor (*of_one)(const Tensor&);
  Tensor (*of_two)(const Tensor&, const Tensor&) = nullptr;
};
constexpr Function kFunctions[] = {{"abs", absolute},
                                   {"cos", cos},
                                   {"exp", exp},
                                   {"gelu", gelu},
                                   {"log", log},
                                   {"log1p", log1p},
                                   {"max", nullptr, maximum},
                                   {"min", nullptr, minimum},
                                   {"pow", nullptr, power},
                                   {"relu", relu},
                                   {"sigmoid", sigmoid},
                                   {"silu", silu},
                                   {"sin", sin},
                                   {"sqrt", square_root},
                                   {"square", square},
                                   {"tanh", tanh}};
const Function* find_function(std::string_view name) {
  const auto* found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                   [&](const Function& f) { return f.name == name; });
  return found == std::end(kFunctions) ? nullptr : found;
}
constexpr Synonym kSynonyms[] = {{"absolute", "abs"}, {"fabs", "abs"},         {"power", "pow"},
                                 {"maximum", "max"},  {"minimum", "min"},      {"sqr", "square"},
                                 {"root", "sqrt"},    {"logistic", "sigmoid"}, {"expit", "sigmoid"},
                                 {"swish", "silu"},   {"log_1p", "log1p"}};
size_t n_argument(const Function& f) { return f.of_one != nullptr ? 1 : 2; }
std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const Function& f : kFunctions) names.emplace_back(f.name);
  return names;
}

std::optional<double> constant(std::string_view name) {
  if (name == "pi") return std::numbers::pi;
  if (name == "e") return std::numbers::e;
  return std::nullopt;
}

}  // namespace

Tensor absolute(const Tensor& x) { return maximum(x, -x); }

/// Reads a formula into its nodes.
class FormulaParser : Scanner {
 public:
  FormulaParser(std::string_view text, size_t begin, size_t size, Formula& formula)
      : Scanner(text, begin, size), text_(text), formula_(formula) {}

  void parse() {
    sum();
    skip_space();
    if (!at_end()) refuse("an operator (+ - * / ^) or the end of the formula");
  }

 private:
  using Node = Formula::Node;
  using Kind = Node::Kind;

  // One level deeper while it lives.
  struct Nested {
    explicit Nested(FormulaParser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kMaxNesting)
        parser_.refuse(concat("at most ", kMaxNesting, " levels of nesting"));
    }
    ~Nested() { --parser_.nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;
    FormulaParser& parser_;
  };

  size_t add(Node node) {
    if (formula_.nodes_.size() == kMaxNodes)
      refuse(concat("at most ", kMaxNodes, " numbers, names and operators"));
    formula_.nodes_.push_back(std::move(node));
    return formula_.nodes_.size() - 1;
  }
  size_t add(Kind kind, std::vector<size_t> of) {
    return add(Node{.kind = kind, .of = std::move(of)});
  }

  size_t sum() {
    for (size_t left = product();;) {
      skip_space();
      if (take('+'))
        left = add(Kind::add, {left, product()});
      else if (take('-'))
        left = add(Kind::subtract, {left, product()});
      else
        return left;
    }
  }

  size_t product() {
    for (size_t left = with_sign();;) {
      skip_space();
      if (take('*')) {
        if (peek() == '*')  // a power elsewhere
          fail<ConfigError>("posenc",
                            "expected a number, a name, '-' or '(', got '*'; did you mean ",
                            "'^', as in d^2?", show_place(text_, at() + 1));
        left = add(Kind::multiply, {left, with_sign()});
      } else if (take('/')) {
        left = add(Kind::divide, {left, with_sign()});
      } else {
        return left;
      }
    }
  }

  size_t with_sign() {
    const Nested level(*this);
    skip_space();
    if (take('-')) return add(Kind::negate, {with_sign()});
    const size_t base = atom();
    skip_space();
    if (!take('^')) return base;
    return add(Kind::power, {base, with_sign()});
  }

  size_t atom() {
    if (is_digit(peek()) || peek() == '.') return add(Node{.number = number("a number")});
    if (take('(')) {
      const size_t inner = sum();
      skip_space();
      if (!take(')')) refuse("an operator (+ - * / ^) or ')'");
      return inner;
    }
    const size_t begin = at();
    std::string name = word("a number, a name, '-' or '('");
    skip_space();
    if (peek() == '(') return call(begin, std::move(name));
    if (find_function(name) != nullptr) refuse(concat("'(' after the function ", name));
    if (!constant(name)) formula_.names_.push_back({name, begin + 1});
    return add(Node{.kind = Kind::name, .name = std::move(name)});
  }

  size_t call(size_t begin, std::string name) {
    if (name == "ln") name = "log";
    const Function* const function = find_function(name);
    if (function == nullptr) {
      const std::vector<std::string> known = function_names();
      std::string hint = did_you_mean(name, known, kSynonyms);
      if (hint.empty()) {
        hint = "; there are ";
        for (const std::string& each : known) hint += (&each == &known[0] ? "" : ", ") + each;
      }
      fail<ConfigError>("posenc", "expected a function before '(', got '", name, "'", hint,
                        show_place(text_, begin + 1));
    }
    take('(');
    std::vector<size_t> arguments;
    do {
      arguments.push_back(sum());
      skip_space();
    } while (take(','));
    if (!take(')')) refuse("an operator (+ - * / ^), ',' or ')'");
    require<ConfigError>(arguments.size() == n_argument(*function), "posenc", name, " takes ",
                         n_argument(*function) == 1 ? "one argument" : "two arguments", ", got ",
                         arguments.size(), show_place(text_, begin + 1));
    return add(Node{.kind = Kind::call, .name = std::move(name), .of = std::move(arguments)});
  }

  std::string_view text_;
  Formula& formula_;
  size_t nesting_ = 0;
};

Formula::Formula(std::string_view text, size_t begin, size_t size) {
  FormulaParser(text, begin, size, *this).parse();
}

// How strongly an operator binds its operands.
int Formula::binding(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::add:
    case Node::Kind::subtract:
      return 1;
    case Node::Kind::multiply:
    case Node::Kind::divide:
      return 2;
    case Node::Kind::negate:
      return 3;
    case Node::Kind::power:
      return 4;
    default:
      return 5;
  }
}

std::string Formula::text_of(size_t index) const {
  const Node& node = nodes_[index];
  // An operand in parentheses when it binds less than `least`.
  const auto operand = [&](size_t i, int least) {
    const std::string text = text_of(node.of[i]);
    return binding(nodes_[node.of[i]].kind) < least ? '(' + text + ')' : text;
  };
  const int own = binding(node.kind);
  switch (node.kind) {
    case Node::Kind::number:
      return to_text(node.number);
    case Node::Kind::name:
      return node.name;
    case Node::Kind::negate:
      return '-' + operand(0, own);
    case Node::Kind::add:
      return operand(0, own) + '+' + operand(1, own + 1);
    case Node::Kind::subtract:
      return operand(0, own) + '-' + operand(1, own + 1);
    case Node::Kind::multiply:
      return operand(0, own) + '*' + operand(1, own + 1);
    case Node::Kind::divide:
      return operand(0, own) + '/' + operand(1, own + 1);
    case Node::Kind::power:  // the exponent may have a sign
      return operand(0, own + 1) + '^' + operand(1, binding(Node::Kind::negate));
    case Node::Kind::call:
      break;
  }
  std::string text = node.name + '(';
  for (size_t i = 0; i < node.of.size(); ++i) {
    if (i > 0) text += ',';
    text += text_of(node.of[i]);
  }
  return text + ')';
}

Tensor Formula::value(const std::map<std::string, Tensor>& values, const Device& device) const {
  return value_of(nodes_.size() - 1, values, device);
}

Tensor Formula::value_of(size_t index, const std::map<std::string, Tensor>& values,
                         const Device& device) const {
  const Node& node = nodes_[index];
  const auto number = [&](double x) { return Tensor::full({}, x, DType::f64, device); };
  const auto operand = [&](size_t i) { return value_of(node.of[i], values, device); };
  switch (node.kind) {
    case Node::Kind::number:
      return number(node.number);
    case Node::Kind::name:
      if (const auto fixed = constant(node.name)) return number(*fixed);
      return values.at(node.name);
    case Node::Kind::negate:
      return -operand(0);
    case Node::Kind::add:
      return operand(0) + operand(1);
    case Node::Kind::subtract:
      return operand(0) - operand(1);
    case Node::Kind::multiply:
      return operand(0) * operand(1);
    case Node::Kind::divide:
      return operand(0) / operand(1);
    case Node::Kind::power:
      return power(operand(0), operand(1));
    case Node::Kind::call:
      break;
  }
  if (node.name == "log")
    if (const Tensor x = less_one(node.of[0], values, device); x.defined()) return log1p(x);
  const Function& function = *find_function(node.name);
  return function.of_one != nullptr ? function.of_one(operand(0))
                                    : function.of_two(operand(0), operand(1));
}

Tensor Formula::less_one(size_t index, const std::map<std::string, Tensor>& values,
                         const Device& device) const {
  const Node& sum = nodes_[index];
  if (sum.kind != Node::Kind::add) return {};
  const auto is_one = [&](size_t i) {
    return nodes_[sum.of[i]].kind == Node::Kind::number && nodes_[sum.of[i]].number == 1;
  };
  if (is_one(0)) return value_of(sum.of[1], values, device);
  if (is_one(1)) return value_of(sum.of[0], values, device);
  const Tensor rest = less_one(sum.of[0], values, device);  // 1 + x + y
  return rest.defined() ? rest + value_of(sum.of[1], values, device) : rest;
}

std::vector<std::string> formula_words() {
  std::vector<std::string> words = function_names();
  words.insert(words.end(), {"e", "pi"});
  return words;
}

}  // namespace farfield::posenc
