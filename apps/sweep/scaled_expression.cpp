// expression_at() of scale.h.

#include <algorithm>
#include <cmath>
#include <vector>

#include "apps/sweep/scale.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "posenc/expression.h"
#include "posenc/registry.h"
#include "posenc/slopes.h"

namespace farfield::sweep {
namespace {

using posenc::ParsedArgument;
using posenc::ParsedTerm;
using posenc::Value;

// Arguments that are a number of tokens, and their default where it is not the training length's.
struct Tokens {
  const char *encoding, *argument;
  double fallback = 0;  // 0: follows from the training length, or must be given
};
constexpr Tokens kTokens[] = {{"window", "w"},
                              {"shape", "k", 500},
                              {"shape", "eval_shift"},
                              {"shifted", "step", 2048},
                              {"shifted", "span", 8192},
                              {"shifted", "offset"},
                              {"fire", "l0", 512},
                              {"xpos", "scale_base", 512},
                              {"positional_jumps", "block", 50},
                              {"rerope", "w"},
                              {"leaky_rerope", "w"},
                              {"self_extend", "window"},
                              {"streaming", "recent"},
                              {"lm_infinite", "n_local"},
                              {"log_n", "train_len"},
                              {"modulo", "length"},
                              {"randomized", "max_positions"},
                              {"learned_abs", "max_positions"},
                              {"front_padding", "max_positions"},
                              {"hwfa", "w"},
                              {"hwfa2", "w"}};

ParsedArgument* find(ParsedTerm& term, const std::string& name, bool is_first = false) {
  for (ParsedArgument& a : term.arguments)
    if (a.name == name || (is_first && a.name.empty())) return &a;
  return nullptr;
}

void set(ParsedTerm& term, const std::string& name, Value value) {
  if (ParsedArgument* a = find(term, name))
    a->value = std::move(value);
  else
    term.arguments.push_back({name, 0, std::move(value)});
}

// Of a number, or of each in a list.
template <class F>
void change(Value& value, const F& f) {
  if (value.kind == Value::Kind::number) value.number = f(value.number);
  for (double& x : value.list) x = f(x);
}

void remove(ParsedTerm& term, const std::string& name) {
  std::erase_if(term.arguments, [&](const ParsedArgument& a) { return a.name == name; });
}

// The first argument may go without its name.
void name_first(ParsedTerm& term) {
  const posenc::Row* const row = posenc::find(term.name);
  if (row == nullptr || row->arguments.empty() || term.arguments.empty()) return;
  if (term.arguments.front().name.empty())
    term.arguments.front().name = row->arguments.front().name;
}

// With sigma the share of lengths that is left: a bias per token that grows by 1 / sigma.
void steepen(ParsedTerm& term, double sigma, int64_t n_head) {
  const double octaves = std::log2(sigma);
  if (term.name == "alibi" || term.name == "alibi_shift") {
    Value delta = Value(0.0);
    if (const ParsedArgument* a = find(term, "delta")) delta = a->value;
    change(delta, [&](double x) { return x + octaves; });
    // Both sets of slopes are one where the number of heads is a power of two, as it is here.
    if (const ParsedArgument* a = find(term, "slopes"); a && a->value.kind == Value::Kind::word)
      remove(term, "slopes");
    term.name = "alibi_shift";
    set(term, "delta", std::move(delta));
  } else if (term.name == "alibi_equal") {
    change(find(term, "h")->value, [&](double x) { return x + octaves; });
  } else if (term.name == "alibi_learned") {
    Value theta;
    if (const ParsedArgument* a = find(term, "theta")) {
      theta = a->value;
    } else {
      theta.kind = Value::Kind::list;
      for (const double slope : posenc::geometric_slopes(n_head))
        theta.list.push_back(std::log(slope));
    }
    change(theta, [&](double x) { return x - std::log(sigma); });
    set(term, "theta", std::move(theta));
  } else if (term.name == "alibi_random") {
    Value by = Value(1.0);
    if (const ParsedArgument* a = find(term, "bias_scale")) by = a->value;
    change(by, [&](double x) { return x / sigma; });
    set(term, "bias_scale", std::move(by));
  }
  if (ParsedArgument* floor = find(term, "slope_floor"))
    change(floor->value, [&](double x) { return x / sigma; });
}

void shorten(ParsedTerm& term, double sigma, int64_t unit) {
  for (const Tokens& tokens : kTokens) {
    if (term.name != tokens.encoding) continue;
    ParsedArgument* a = find(term, tokens.argument);
    if (a == nullptr && tokens.fallback > 0) {
      set(term, tokens.argument, Value(tokens.fallback));
      a = find(term, tokens.argument);
    }
    if (a != nullptr)
      change(a->value, [&](double x) { return x == 0 ? 0 : std::max(1.0, std::round(x * sigma)); });
  }
  if (term.name == "t5" && find(term, "num_buckets") == nullptr &&
      find(term, "max_distance") == nullptr) {
    const int64_t exact = std::max<int64_t>(8, unit / 32);
    set(term, "num_buckets", Value(2 * exact));
    set(term, "max_distance", Value(std::max<int64_t>(16, unit / 4)));
  }
}

std::string text_of(const ParsedTerm& term) {
  std::string text = term.name;
  if (!term.arguments.empty())
    text += '(' +
            joined(term.arguments, ", ",
                   [](const ParsedArgument& a) {
                     const bool has_equals =
                         !a.name.empty() && a.value.kind != Value::Kind::declaration;
                     return a.name + (has_equals ? "=" : "") + posenc::to_text(a.value);
                   }) +
            ')';
  if (term.layers) {
    text += concat('@', term.layers->first);
    if (term.layers->last != term.layers->first) text += concat("..", term.layers->last);
  }
  return text;
}

std::string scaled(Scale scale, const std::string& expression, int64_t from) {
  const std::vector<ParsedTerm> parsed = posenc::parse_expression(expression, posenc::form_of);
  const int64_t unit = profile_of(scale).unit;
  if (unit == from) return expression;
  const double sigma = static_cast<double>(unit) / static_cast<double>(from);
  const int64_t n_head = training_of(scale, Size::base).n_head.value_or(0);
  return joined(parsed, " + ", [&](ParsedTerm term) {
    name_first(term);
    steepen(term, sigma, n_head);
    shorten(term, sigma, unit);
    return text_of(term);
  });
}

}  // namespace

std::string expression_at(Scale scale, const std::string& expression, Scale meant_for) {
  return scaled(scale, expression, profile_of(meant_for).unit);
}

}  // namespace farfield::sweep
