#include "posenc/rescale.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/base/text.h"

namespace farfield::posenc {
namespace {

using Unit = ArgumentSpec::Unit;

double rescaled_number(double x, Unit unit, double factor) {
  switch (unit) {
    case Unit::tokens:
      return x == 0 ? 0 : std::copysign(std::max(1.0, std::round(std::abs(x) * factor)), x);
    case Unit::per_token:
      return x / factor;
    case Unit::halvings_per_token:
      return x + std::log2(factor);
    case Unit::log_per_token:
      return x - std::log(factor);
    case Unit::count:
    case Unit::unstated:
      break;
  }
  return x;
}

Value rescaled_value(Value value, Unit unit, double factor) {
  if (value.kind == Value::Kind::number) value.number = rescaled_number(value.number, unit, factor);
  for (double& x : value.list) x = rescaled_number(x, unit, factor);
  return value;
}

// The numbers of an argument that is not written, unless they depend on the model or are drawn.
std::optional<Value> default_of(const ArgumentSpec& spec, int64_t n_head) {
  if (spec.fallback) return *spec.fallback;
  if (spec.start.values == nullptr) return std::nullopt;
  Value value;
  value.kind = Value::Kind::list;
  value.list = spec.start.values(n_head, Random{});
  return value;
}

}  // namespace

void rescale_arguments(ParsedTerm& term, const std::vector<ArgumentSpec>& specs,
                       const LengthChange& change) {
  for (const ArgumentSpec& spec : specs) {
    if (spec.unit == Unit::unstated || spec.unit == Unit::count) continue;
    if (ParsedArgument* const written = find_argument(term, spec.name)) {
      written->value = rescaled_value(written->value, spec.unit, change.factor);
    } else if (const std::optional<Value> usual = default_of(spec, change.n_head)) {
      Value value = rescaled_value(*usual, spec.unit, change.factor);
      if (!value.same(*usual))
        term.arguments.push_back({.name = spec.name, .value = std::move(value)});
    }
  }
}

std::string rescaled(const std::string& expression, const LengthChange& change,
                     const Row* (*row_of)(std::string_view)) {
  const std::vector<ParsedTerm> terms = parse_expression(expression, form_of);
  if (change.factor == 1) return expression;
  return joined(terms, " + ", [&](ParsedTerm term) {
    const Row* const row = row_of(term.name);
    if (row == nullptr) return to_text(term);
    if (!row->arguments.empty() && !term.arguments.empty() && term.arguments[0].name.empty())
      term.arguments[0].name = row->arguments[0].name;
    if (row->rescale != nullptr)
      row->rescale(term, change);
    else
      rescale_arguments(term, row->arguments, change);
    return to_text(term);
  });
}

}  // namespace farfield::posenc
