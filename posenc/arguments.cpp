#include "posenc/arguments.h"

#include <algorithm>
#include <cmath>

namespace farfield::posenc {
namespace {

constexpr double kMaxInteger = 9007199254740992;  // 2^53: every integer up to it is a float64

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " or " : ", ") + parts[i];
  return text;
}

bool in_range(const ArgumentSpec& spec, double x) {
  return std::isfinite(x) && (spec.least_excluded ? x > spec.least : x >= spec.least) &&
         x <= spec.most;
}

bool accepts(const ArgumentSpec& spec, const Value& value, int64_t n_head) {
  switch (value.kind) {
    case Value::Kind::number:
      if (spec.integer)
        return std::trunc(value.number) == value.number && std::abs(value.number) <= kMaxInteger &&
               in_range(spec, value.number);
      return (spec.number || spec.per_head) && in_range(spec, value.number);
    case Value::Kind::word:
      return std::find(spec.words.begin(), spec.words.end(), value.text) != spec.words.end();
    case Value::Kind::list:
      return spec.per_head && static_cast<int64_t>(value.list.size()) == n_head &&
             std::all_of(value.list.begin(), value.list.end(),
                         [&](double x) { return in_range(spec, x); });
    case Value::Kind::text:
    case Value::Kind::file:
      break;
  }
  return false;
}

// What was given instead, for an error.
std::string describe(const ArgumentSpec& spec, const Value& value, int64_t n_head) {
  std::string text = to_text(value);
  if (text.size() > 40) text = text.substr(0, 40) + "...";
  if (value.kind == Value::Kind::list && spec.per_head &&
      static_cast<int64_t>(value.list.size()) != n_head)
    text = concat(value.list.size(), " of them; this model has ", n_head, " heads");
  if (value.kind == Value::Kind::word) text += did_you_mean(value.text, spec.words);
  return text;
}

Value number_value(double x) {
  Value value;
  value.number = x;
  return value;
}

}  // namespace

ArgumentSpec ArgumentSpec::at_least(double bound) const {
  ArgumentSpec spec = *this;
  spec.least = bound;
  return spec;
}
ArgumentSpec ArgumentSpec::above(double bound) const {
  ArgumentSpec spec = at_least(bound);
  spec.least_excluded = true;
  return spec;
}
ArgumentSpec ArgumentSpec::at_most(double bound) const {
  ArgumentSpec spec = *this;
  spec.most = bound;
  return spec;
}
ArgumentSpec ArgumentSpec::or_words(std::vector<std::string> allowed) const {
  ArgumentSpec spec = *this;
  spec.words = std::move(allowed);
  if (!spec.has_fallback && !spec.words.empty() && spec.words[0] == spec.default_text) {
    spec.has_fallback = true;
    spec.fallback.kind = Value::Kind::word;
    spec.fallback.text = spec.default_text;
  }
  return spec;
}

std::string ArgumentSpec::type() const {
  std::string range;
  if (std::isfinite(least)) range += (least_excluded ? " > " : " >= ") + to_text(least);
  if (std::isfinite(most)) range += (range.empty() ? " <= " : " and <= ") + to_text(most);
  std::vector<std::string> parts = words;
  if (integer) parts.push_back("an integer" + range);
  if (number) parts.push_back("a number" + range);
  if (per_head) parts.push_back("a number" + range + " or a list of them, one per head");
  return joined(parts);
}

ArgumentSpec integer_argument(std::string name, double fallback, std::string meaning) {
  ArgumentSpec spec = number_argument(std::move(name), fallback, std::move(meaning));
  spec.number = false;
  spec.integer = true;
  return spec;
}

ArgumentSpec number_argument(std::string name, double fallback, std::string meaning) {
  ArgumentSpec spec;
  spec.name = std::move(name);
  spec.default_text = to_text(fallback);
  spec.meaning = std::move(meaning);
  spec.number = true;
  spec.has_fallback = true;
  spec.fallback = number_value(fallback);
  return spec;
}

ArgumentSpec word_argument(std::string name, std::vector<std::string> words, std::string meaning) {
  ArgumentSpec spec;
  spec.name = std::move(name);
  spec.default_text = words.at(0);
  spec.meaning = std::move(meaning);
  return spec.or_words(std::move(words));
}

ArgumentSpec per_head_argument(std::string name, std::string default_text, std::string meaning) {
  ArgumentSpec spec;
  spec.name = std::move(name);
  spec.default_text = std::move(default_text);
  spec.meaning = std::move(meaning);
  spec.per_head = true;
  return spec;
}

ArgumentSpec required_integer(std::string name, std::string meaning) {
  ArgumentSpec spec;
  spec.name = std::move(name);
  spec.meaning = std::move(meaning);
  spec.integer = true;
  return spec;
}

ArgumentSpec derived_integer(std::string name, std::string default_text,
                             double (*derived)(const Config&), std::string meaning) {
  ArgumentSpec spec = required_integer(std::move(name), std::move(meaning));
  spec.default_text = std::move(default_text);
  spec.derived = derived;
  return spec;
}

Arguments::Arguments(std::string_view expression, const ParsedTerm& term, std::string_view encoding,
                     const std::vector<ArgumentSpec>& specs, const Config& config)
    : expression_(expression), encoding_(encoding), path_(encoding), n_head_(config.n_head) {
  std::vector<std::string> known;
  for (const ArgumentSpec& spec : specs) known.push_back(spec.name);
  for (const ParsedArgument& given : term.arguments) {
    farfield::require<ConfigError>(!specs.empty(), "posenc", encoding, " takes no arguments",
                                   show_place(expression, given.column));
    const std::string& name = given.name.empty() ? known[0] : given.name;
    const auto spec = std::find_if(specs.begin(), specs.end(),
                                   [&](const ArgumentSpec& s) { return s.name == name; });
    farfield::require<ConfigError>(spec != specs.end(), "posenc", encoding, " takes ",
                                   joined(known), ", got '", name, "'", did_you_mean(name, known),
                                   show_place(expression, given.column));
    farfield::require<ConfigError>(values_.find(name) == values_.end(), "posenc", encoding, "(",
                                   name, "): expected it once, got it again",
                                   show_place(expression, given.column));
    values_[name] = given.value;
    require(accepts(*spec, given.value, n_head_), name, "expected ", spec->type(), ", got ",
            describe(*spec, given.value, n_head_));
  }
  for (const ArgumentSpec& spec : specs) {
    const bool given = has(spec.name);
    if (!given) {
      farfield::require<ConfigError>(!spec.default_text.empty(), "posenc", encoding, " needs ",
                                     spec.name, ", ", spec.type(), " (", spec.meaning, "); write ",
                                     encoding, "(", spec.name, "=...)",
                                     show_place(expression, term.column));
      if (spec.derived != nullptr) values_[spec.name] = number_value(spec.derived(config));
      if (spec.has_fallback) values_[spec.name] = spec.fallback;
    }
    const bool shown = spec.derived != nullptr ||
                       (given && !(spec.has_fallback && at(spec.name).same(spec.fallback)));
    if (shown)
      canonical_ += concat(canonical_.empty() ? "(" : ", ", spec.name, '=', to_text(at(spec.name)));
  }
  if (!canonical_.empty()) canonical_ += ')';
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
std::string Arguments::word(std::string_view name) const {
  const Value& value = at(name);
  return value.kind == Value::Kind::word ? value.text : "";
}
std::vector<double> Arguments::per_head(std::string_view name) const {
  const Value& value = at(name);
  return value.kind == Value::Kind::list
             ? value.list
             : std::vector<double>(static_cast<size_t>(n_head_), value.number);
}

void Arguments::refuse(std::string_view argument, const std::string& what) const {
  const auto value = values_.find(argument);
  fail<ConfigError>("posenc", encoding_, '(', argument, "): ", what,
                    value == values_.end() ? "" : show_place(expression_, value->second.column));
}

}  // namespace farfield::posenc
