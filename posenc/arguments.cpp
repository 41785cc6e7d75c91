#include "posenc/arguments.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/text.h"

namespace farfield::posenc {
namespace {

constexpr double kMaxInteger = 9007199254740992;  // 2^53: every integer up to it is a float64

// Values end up in float32 tables and parameters.
constexpr double kMaxNumber = std::numeric_limits<float>::max();

bool in_range(const ArgumentSpec& spec, double x) {
  const auto [least, most] = spec.bounds;
  return std::abs(x) <= kMaxNumber && (spec.is_least_excluded ? x > least : x >= least) &&
         x <= most;
}

bool is_integer_in_range(const ArgumentSpec& spec, double x) {
  return std::trunc(x) == x && std::abs(x) <= kMaxInteger && in_range(spec, x);
}

bool accepts(const ArgumentSpec& spec, const Value& value, int64_t n_head) {
  using Kind = ArgumentSpec::Kind;
  switch (value.kind) {
    case Value::Kind::number:
      if (spec.kind == Kind::integer) return is_integer_in_range(spec, value.number);
      return (spec.kind == Kind::number || spec.kind == Kind::numbers ||
              spec.kind == Kind::per_head) &&
             in_range(spec, value.number);
    case Value::Kind::word:
      return std::find(spec.words.begin(), spec.words.end(), value.text) != spec.words.end();
    case Value::Kind::list:
      if (spec.kind == Kind::integers)
        return !value.list.empty() &&
               std::all_of(value.list.begin(), value.list.end(),
                           [&](double x) { return is_integer_in_range(spec, x); });
      return (spec.kind == Kind::numbers ||
              (spec.kind == Kind::per_head && static_cast<int64_t>(value.list.size()) == n_head)) &&
             std::all_of(value.list.begin(), value.list.end(),
                         [&](double x) { return in_range(spec, x); });
    case Value::Kind::formula:
      return spec.kind == Kind::formula;
    case Value::Kind::file:
      return spec.or_a_file;
    case Value::Kind::text:
    case Value::Kind::declaration:
      break;
  }
  return false;
}

// The given value, for an error.
std::string describe(const ArgumentSpec& spec, const Value& value, int64_t n_head) {
  std::string text = to_text(value);
  if (text.size() > 40) text = text.substr(0, 40) + "...";
  if (value.kind == Value::Kind::list && spec.kind == ArgumentSpec::Kind::per_head &&
      static_cast<int64_t>(value.list.size()) != n_head)
    text = concat(value.list.size(), " of them; this model has ", n_head, " heads");
  if (value.kind == Value::Kind::word) text += did_you_mean(value.text, spec.words);
  const auto is_too_large = [](double x) { return std::abs(x) > kMaxNumber; };
  if (spec.kind == ArgumentSpec::Kind::integer || spec.kind == ArgumentSpec::Kind::integers)
    return text;
  if (is_too_large(value.number) || std::any_of(value.list.begin(), value.list.end(), is_too_large))
    text += ", which float32 cannot hold";
  return text;
}

// One without a default.
ArgumentSpec required(ArgumentSpec::Kind kind, std::string name, std::string meaning) {
  ArgumentSpec spec;
  spec.kind = kind;
  spec.name = std::move(name);
  spec.meaning = std::move(meaning);
  return spec;
}
ArgumentSpec with_default(ArgumentSpec spec, std::string text) {
  spec.default_text = std::move(text);
  return spec;
}
ArgumentSpec with_default(ArgumentSpec spec, double fallback) {
  spec.fallback = fallback;
  return with_default(std::move(spec), to_text(fallback));
}

}  // namespace

Start uniform(double low, double high) {
  return {concat("U(", to_text(low), ',', to_text(high), ')'),
          [low, high](int64_t n_head, const Random& random) {
            std::vector<double> values;
            for (int64_t h = 0; h < n_head; ++h)
              values.push_back(low + (high - low) * random.uniform(static_cast<uint64_t>(h)));
            return values;
          }};
}

ArgumentSpec ArgumentSpec::at_least(double bound) const {
  ArgumentSpec spec = *this;
  spec.bounds.least = bound;
  return spec;
}
ArgumentSpec ArgumentSpec::above(double bound) const {
  ArgumentSpec spec = at_least(bound);
  spec.is_least_excluded = true;
  return spec;
}
ArgumentSpec ArgumentSpec::at_most(double bound) const {
  ArgumentSpec spec = *this;
  spec.bounds.most = bound;
  return spec;
}
ArgumentSpec ArgumentSpec::or_words(std::vector<std::string> allowed) const {
  ArgumentSpec spec = *this;
  spec.words = std::move(allowed);
  if (!spec.fallback && !spec.words.empty() && spec.words[0] == spec.default_text)
    spec.fallback = spec.default_text;
  return spec;
}
ArgumentSpec ArgumentSpec::or_number() const {
  ArgumentSpec spec = *this;
  spec.kind = Kind::number;
  return spec;
}
ArgumentSpec ArgumentSpec::or_integer() const {
  ArgumentSpec spec = *this;
  spec.kind = Kind::integer;
  return spec;
}
ArgumentSpec ArgumentSpec::or_file() const {
  ArgumentSpec spec = *this;
  spec.or_a_file = true;
  return spec;
}
ArgumentSpec ArgumentSpec::derived(std::string text,
                                   std::function<Value(const Config&, const Arguments&)> by) const {
  ArgumentSpec spec = with_default(*this, std::move(text));
  spec.fallback.reset();
  spec.derive = std::move(by);
  return spec;
}
ArgumentSpec ArgumentSpec::or_as_trained(
    std::function<std::optional<Value>(const Config&)> by) const {
  ArgumentSpec spec = *this;
  spec.trained = std::move(by);
  return spec;
}
ArgumentSpec ArgumentSpec::kept_within(const Bounds& both) const {
  ArgumentSpec spec = *this;
  spec.bounds = spec.kept = both;
  return spec;
}
ArgumentSpec ArgumentSpec::kept_above_argument(std::string argument) const {
  ArgumentSpec spec = *this;
  spec.kept_above = std::move(argument);
  return spec;
}
ArgumentSpec ArgumentSpec::in(Unit of) const {
  ArgumentSpec spec = *this;
  spec.unit = of;
  return spec;
}

std::string ArgumentSpec::type() const {
  const auto [least, most] = bounds;
  std::string range;
  if (std::isfinite(least)) range += (is_least_excluded ? " > " : " >= ") + to_text(least);
  if (std::isfinite(most)) range += (range.empty() ? " <= " : " and <= ") + to_text(most);
  std::vector<std::string> parts = words;
  switch (kind) {
    case Kind::word:
      break;
    case Kind::integer:
      parts.push_back("an integer" + range);
      break;
    case Kind::integers:
      parts.push_back("a list of integers" + range);
      break;
    case Kind::number:
      parts.push_back("a number" + range);
      break;
    case Kind::numbers:
      parts.push_back("a number" + range + " or a list of them");
      break;
    case Kind::per_head:
      parts.push_back("a number" + range + " or a list of them, one per head");
      break;
    case Kind::formula:
      parts.push_back("a formula");
      break;
    case Kind::declarations:
      parts.push_back("a declaration");
  }
  if (or_a_file) parts.push_back("@file");
  return listed(parts, " or ");
}

ArgumentSpec integer_argument(std::string name, double fallback, std::string meaning) {
  return with_default(required_integer(std::move(name), std::move(meaning)), fallback);
}
ArgumentSpec number_argument(std::string name, double fallback, std::string meaning) {
  return with_default(required_number(std::move(name), std::move(meaning)), fallback);
}
ArgumentSpec word_argument(std::string name, std::vector<std::string> words, std::string meaning) {
  ArgumentSpec spec = required(ArgumentSpec::Kind::word, std::move(name), std::move(meaning));
  return with_default(std::move(spec), words.at(0)).or_words(std::move(words));
}
ArgumentSpec per_head_argument(std::string name, std::string default_text, std::string meaning) {
  return with_default(required_per_head(std::move(name), std::move(meaning)),
                      std::move(default_text));
}
ArgumentSpec start_argument(std::string name, Start start, std::string meaning) {
  ArgumentSpec spec = per_head_argument(std::move(name), start.text, std::move(meaning));
  spec.start = std::move(start);
  return spec;
}
ArgumentSpec formula_argument(std::string name, std::string default_text, std::string meaning) {
  return with_default(required(ArgumentSpec::Kind::formula, std::move(name), std::move(meaning)),
                      std::move(default_text));
}
ArgumentSpec declared_parameters(std::string name, std::string meaning) {
  return with_default(
      required(ArgumentSpec::Kind::declarations, std::move(name), std::move(meaning)), "none");
}
ArgumentSpec required_integer(std::string name, std::string meaning) {
  return required(ArgumentSpec::Kind::integer, std::move(name), std::move(meaning));
}
ArgumentSpec required_integers(std::string name, std::string meaning) {
  return required(ArgumentSpec::Kind::integers, std::move(name), std::move(meaning));
}
ArgumentSpec required_number(std::string name, std::string meaning) {
  return required(ArgumentSpec::Kind::number, std::move(name), std::move(meaning));
}
ArgumentSpec required_numbers(std::string name, std::string meaning) {
  return required(ArgumentSpec::Kind::numbers, std::move(name), std::move(meaning));
}
ArgumentSpec numbers_argument(std::string name, double fallback, std::string meaning) {
  return with_default(required_numbers(std::move(name), std::move(meaning)), fallback);
}
ArgumentSpec required_per_head(std::string name, std::string meaning) {
  return required(ArgumentSpec::Kind::per_head, std::move(name), std::move(meaning));
}

Arguments::Arguments(std::string_view expression, const ParsedTerm& term, std::string_view encoding,
                     const std::vector<ArgumentSpec>& specs, const Config& config)
    : expression_(expression),
      encoding_(encoding),
      path_(encoding),
      column_(term.column),
      n_head_(config.n_head),
      specs_(&specs) {
  std::vector<std::string> known;
  for (const ArgumentSpec& spec : specs)
    if (spec.kind != ArgumentSpec::Kind::declarations) known.push_back(spec.name);
  for (const ParsedArgument& given : term.arguments) {
    farfield::require<ConfigError>(!specs.empty(), "posenc", encoding, " takes no arguments",
                                   show_place(expression, given.column));
    if (given.value.kind == Value::Kind::declaration) {
      declare(given, known);
      continue;
    }
    const std::string& name = given.name.empty() ? known[0] : given.name;
    const auto spec = std::find_if(specs.begin(), specs.end(),
                                   [&](const ArgumentSpec& s) { return s.name == name; });
    if (spec == specs.end()) refuse_unknown(known, name, given.column);
    farfield::require<ConfigError>(values_.find(name) == values_.end(), "posenc", encoding, "(",
                                   name, "): expected it once, got it again",
                                   show_place(expression, given.column));
    values_[name] = given.value;
    if (given.value.kind == Value::Kind::formula)
      formulas_.emplace(name, Formula(expression, given.value.column - 1, given.value.text.size()));
    require(accepts(*spec, given.value, n_head_), name, "expected ", spec->type(), ", got ",
            describe(*spec, given.value, n_head_));
  }
  for (const Declaration& declared : declarations_)
    if (!is_used(declared.name))
      refuse_unknown(known, declared.name, declared.column, ", a parameter that no formula uses");
  for (const ArgumentSpec& spec : specs) {
    const bool given = has(spec.name);
    if (!given) {
      farfield::require<ConfigError>(!spec.default_text.empty(), "posenc", encoding, " needs ",
                                     spec.name, ", ", spec.type(), " (", spec.meaning, "); write ",
                                     encoding, "(", spec.name, "=...)",
                                     show_place(expression, term.column));
      const std::optional<Value> trained = spec.trained ? spec.trained(config) : std::nullopt;
      if (spec.derive)
        values_[spec.name] = spec.derive(config, *this);
      else if (trained)
        values_[spec.name] = *trained;
      else if (spec.fallback)
        values_[spec.name] = *spec.fallback;
    }
    if (spec.kind == ArgumentSpec::Kind::declarations)
      for (const Declaration& declaration : declarations_)
        canonical_ += concat(canonical_.empty() ? "(" : ", ", declaration.text());
    const bool is_default = spec.fallback && at(spec.name).same(*spec.fallback);
    const bool is_known = given || spec.trained;
    const bool shown = spec.derive ? true : is_known && !is_default;
    if (shown)
      canonical_ += concat(canonical_.empty() ? "(" : ", ", spec.name, '=',
                           spec.kind == ArgumentSpec::Kind::formula ? formula(spec.name)->text()
                                                                    : to_text(at(spec.name)));
  }
  if (!canonical_.empty()) canonical_ += ')';
}

void Arguments::declare(const ParsedArgument& given, const std::vector<std::string>& known) {
  require_at(std::find(known.begin(), known.end(), given.name) == known.end(), given.column,
             given.name, "is an argument; expected another name for a parameter");
  const std::vector<std::string> words = formula_words();
  require_at(std::find(words.begin(), words.end(), given.name) == words.end(), given.column,
             given.name, "means something else in formulas; expected another name for a parameter");
  const auto at = std::lower_bound(
      declarations_.begin(), declarations_.end(), given.name,
      [](const Declaration& declared, const std::string& name) { return declared.name < name; });
  require_at(at == declarations_.end() || at->name != given.name, given.column, given.name,
             "expected it once, got it again");
  Declaration declared;
  try {
    declared = parse_declaration(expression_, given.name, given.column, given.value.column - 1,
                                 given.value.text.size());
  } catch (const ConfigError&) {  // a misspelt argument reads as a declaration too
    if (given.value.text[0] != '=' || did_you_mean(given.name, known).empty()) throw;
    refuse_unknown(known, given.name, given.column);
  }
  require_at(!declared.is_list || static_cast<int64_t>(declared.values.size()) == n_head_,
             declared.start_column, given.name, "expected a number per head, got ",
             declared.values.size(), " of them; this model has ", n_head_, " heads");
  declarations_.insert(at, declared);
}

bool Arguments::is_used(std::string_view parameter) const {
  for (const auto& [argument, formula] : formulas_)
    for (const Formula::Name& used : formula.names())
      if (used.name == parameter) return true;
  return false;
}

bool Arguments::has(std::string_view name) const { return values_.find(name) != values_.end(); }

const Value& Arguments::at(std::string_view name) const {
  const auto value = values_.find(name);
  farfield::require<ConfigError>(value != values_.end(), "posenc", encoding_, " has no value for ",
                                 name);
  return value->second;
}

double Arguments::number(std::string_view name) const { return at(name).number; }
int64_t Arguments::integer(std::string_view name) const {
  return static_cast<int64_t>(at(name).number);
}
std::vector<int64_t> Arguments::integers(std::string_view name) const {
  std::vector<int64_t> all;
  for (const double x : at(name).list) all.push_back(static_cast<int64_t>(x));
  return all;
}
std::vector<double> Arguments::numbers(std::string_view name, int64_t n,
                                       std::string_view of) const {
  const Value& value = at(name);
  if (value.kind != Value::Kind::list)
    return std::vector<double>(static_cast<size_t>(n), value.number);
  require(static_cast<int64_t>(value.list.size()) == n, name, "expected a number or a list of ", n,
          ", one for each of the ", of, ", got ", value.list.size(), " of them");
  return value.list;
}
std::string Arguments::word(std::string_view name) const {
  const Value& value = at(name);
  return value.kind == Value::Kind::word ? value.text : "";
}
const Formula* Arguments::formula(std::string_view name) const {
  const auto found = formulas_.find(name);
  return found == formulas_.end() ? nullptr : &found->second;
}
std::string Arguments::file(std::string_view name) const {
  const auto value = values_.find(name);
  const bool is_file = value != values_.end() && value->second.kind == Value::Kind::file;
  return is_file ? value->second.text : "";
}
std::vector<double> Arguments::per_head(std::string_view name) const {
  const Value& value = at(name);
  return value.kind == Value::Kind::list
             ? value.list
             : std::vector<double>(static_cast<size_t>(n_head_), value.number);
}

void Arguments::refuse_unknown(const std::vector<std::string>& known, const std::string& name,
                               size_t column, std::string_view what) const {
  fail<ConfigError>("posenc", encoding_, " takes ", listed(known, " or "), ", got '", name, "'",
                    what, did_you_mean(name, known), show_place(expression_, column));
}

void Arguments::refuse(std::string_view argument, const std::string& what) const {
  const auto value = values_.find(argument);
  const size_t column = value == values_.end() ? 0 : value->second.column;
  refuse_at(column > 0 ? column : column_, argument, what);  // a default has no place of its own
}

void Arguments::refuse_at(size_t column, std::string_view argument, const std::string& what) const {
  fail<ConfigError>("posenc", encoding_, '(', argument, "): ", what,
                    show_place(expression_, column));
}

}  // namespace farfield::posenc
