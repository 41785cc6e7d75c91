#include "apps/sweep/search_space.h"

#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <iterator>
#include <set>

#include "apps/run/resolved_config.h"
#include "engine/base/error.h"
#include "engine/base/random.h"
#include "engine/base/text.h"
#include "posenc/composition.h"

namespace farfield::sweep {
namespace {

constexpr std::string_view kWhere = "sweep";
constexpr int kDrawsOfASlot = 16;    // of a formula that is new
constexpr int64_t kMostEmpty = 500;  // slots without one, after each other
constexpr uint64_t kNumbersOfADraw = 32;

const char* const kFamilies[] = {"log",          "mixture", "linear",     "weight",
                                 "log of power", "sqrt",    "saturating", "learned power",
                                 "per head",     "power",   "floor",      "both"};

// The random choices of one formula.
class Choices {
 public:
  Choices(uint64_t seed, uint64_t draw)
      : random_{seed, stream_of("search")}, next_(draw * kNumbersOfADraw) {}
  template <class T>
  T of(std::initializer_list<T> values) {
    return values.begin()[random_.below(next_++, values.size())];
  }

 private:
  Random random_;
  uint64_t next_;
};

// Two significant digits: more would not change what training makes of it.
std::string rounded(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", x);
  return shortest(std::strtod(text, nullptr));
}

// A part of kernel(...): its formula and its parameters, whose names end in `tag`.
struct Part {
  std::string formula;
  std::string declarations = {};  // ", r>=0~U(0,2)" each
};

class Parts {
 public:
  Parts(Choices& choices, double train_len) : choices_(choices), train_len_(train_len) {}

  Part bias(const std::string& family, const std::string& tag);
  Part weight();
  Part mixture();

 private:
  double reach() { return choices_.of({2.0, 8.0, 32.0}); }
  // A parameter that starts in U(0, most); `bound`: ">0" or ">=0".
  static std::string declared(const std::string& name, const char* bound, double most) {
    return concat(", ", name, bound, "~U(0,", rounded(most), ')');
  }
  // r times a growth, which is `at_end` at distance L.
  Part scaled(const std::string& growth, double at_end, const std::string& tag) {
    return {concat('r', tag, '*', growth), declared('r' + tag, ">=0", reach() / at_end)};
  }
  Part log_of(const std::string& distance, double at_end, const std::string& tag);
  Part per_head();

  Choices& choices_;
  double train_len_;
};

Part Parts::log_of(const std::string& distance, double at_end, const std::string& tag) {
  const double rate = choices_.of({1.0, 8 / train_len_});
  Part part = {concat('r', tag, "*log(1+a", tag, '*', distance, ')')};
  part.declarations = declared('r' + tag, ">0", reach() / std::log1p(rate / 2 * at_end)) +
                      declared('a' + tag, ">0", rate);
  return part;
}

Part Parts::per_head() {
  struct Growth {
    const char* formula;
    double at_end;
  };
  const double n = train_len_;
  const Growth growth = choices_.of<Growth>({{"d", n},
                                             {"sqrt(d)", std::sqrt(n)},
                                             {"log(1+d)", std::log1p(n)},
                                             {"d^0.25", std::pow(n, 0.25)},
                                             {"d^0.75", std::pow(n, 0.75)}});
  // Before these powers of two, the slopes of alibi would have 512. A slow growth is large at small
  // distances already.
  const bool is_linear = growth.at_end == n;
  const double most = choices_.of({8.0, 32.0, 128.0}) * (is_linear ? 4 : 1);
  return {concat(rounded(most / growth.at_end), "*2^(-8*h/n_head)*", growth.formula)};
}

Part Parts::bias(const std::string& family, const std::string& tag) {
  const double n = train_len_;
  if (family == "log") return log_of("d", n, tag);
  if (family == "linear") return scaled("d", n, tag);
  if (family == "sqrt") return scaled("sqrt(d)", std::sqrt(n), tag);
  if (family == "per head") return per_head();
  const std::string r = 'r' + tag, p = 'p' + tag;
  if (family == "power") {
    const double power = choices_.of({0.25, 0.75});
    return scaled("d^" + shortest(power), std::pow(n, power), tag);
  }
  if (family == "learned power") {
    Part part = scaled("d^" + p, std::sqrt(n), tag);
    part.declarations += concat(", ", p, ">0<=2~U(0.2,1)");
    return part;
  }
  if (family == "log of power") {
    const double power = choices_.of({0.0, 0.5, 1.5, 2.0});  // 0: learned
    if (power > 0) return log_of("d^" + shortest(power), std::pow(n, power), tag);
    Part part = log_of("d^" + p, n, tag);
    part.declarations += concat(", ", p, ">0<=2~U(0.5,1.5)");
    return part;
  }
  if (family == "floor")
    return {concat("min(", r, "*d,f", tag, ')'),
            declared(r, ">=0", 2 * reach() / n) + declared('f' + tag, ">0", reach())};
  return {concat(r, "*(1-exp(-b", tag, "*d))"),  // saturating
          declared(r, ">0", reach()) + declared('b' + tag, ">=0", choices_.of({4 / n, 32 / n}))};
}

Part Parts::weight() {
  const double n = train_len_, most = choices_.of({0.5, 2.0, 8.0});
  switch (choices_.of({0, 1, 2, 3})) {
    case 0:
      return {"exp(-s*d)", declared("s", ">=0", most / n)};
    case 1:
      return {"exp(-s*sqrt(d))", declared("s", ">=0", most / std::sqrt(n))};
    case 2:
      return {"exp(-s*d^q)", declared("s", ">=0", most / std::sqrt(n)) + ", q>0<=2~U(0.2,1)"};
    default:
      return {"1/(1+s*d)", declared("s", ">=0", most / n)};
  }
}

Part Parts::mixture() {
  static const std::initializer_list<const char*> kinds = {
      "log", "linear", "sqrt", "power", "log of power", "floor", "saturating", "per head"};
  const std::string one = choices_.of(kinds);
  std::string other = choices_.of(kinds);
  while (other == one) other = choices_.of(kinds);
  const Part first = bias(one, "1"), second = bias(other, "2");
  return {concat(first.formula, '-', second.formula), first.declarations + second.declarations};
}

std::string expression(const std::string& family, Choices& choices, double train_len) {
  Parts parts(choices, train_len);
  if (family == "weight") {
    const Part weight = parts.weight();
    return concat("kernel(weight=", weight.formula, weight.declarations, ')');
  }
  if (family == "both") {
    const Part weight = parts.weight();
    const Part bias = parts.bias(
        choices.of<const char*>({"log", "linear", "sqrt", "saturating", "per head"}), "");
    return concat("kernel(bias=-", bias.formula, ", weight=", weight.formula, bias.declarations,
                  weight.declarations, ')');
  }
  const Part bias = family == "mixture" ? parts.mixture() : parts.bias(family, "");
  return concat("kernel(bias=-", bias.formula, bias.declarations, ')');
}

// The canonical text. ConfigError where the scale's model cannot have it, or has no finite table at
// some distance up to 16 L.
std::string checked(Scale scale, const std::string& expression) {
  run::RunConfig request = training_of(scale, Size::base);
  request.posenc = expression;
  request.data = {"text"};
  if (!request.precision) request.precision = "fp32";
  const ModelConfig model = run::resolve(request).model;
  const posenc::Composition encoding(model.posenc, {.n_head = model.n_head,
                                                    .head_dim = model.d_model / model.n_head,
                                                    .d_model = model.d_model,
                                                    .n_layer = model.n_layer,
                                                    .train_len = model.train_len});
  encoding.plan(1, tokens_of(scale, 16), posenc::Phase::eval);
  return model.posenc;
}

}  // namespace

SearchSpace search_space(Scale scale, uint64_t seed, int64_t n) {
  const auto train_len = static_cast<double>(tokens_of(scale, 1));
  constexpr size_t kFamilyCount = std::size(kFamilies);
  // The model of the scale itself must be valid: otherwise every formula would count as refused.
  std::set<std::string> known = {checked(scale, "none")};
  SearchSpace space;
  int64_t n_empty = 0;
  for (size_t slot = 0; static_cast<int64_t>(space.candidates.size()) < n; ++slot) {
    require<ConfigError>(n_empty < kMostEmpty, kWhere, "--candidates: expected at most ",
                         space.candidates.size(), ", the formulas that are there, got ", n);
    const std::string family = kFamilies[slot % kFamilyCount];
    const bool has_rope = (slot + slot / kFamilyCount) % 2 == 1;
    ++n_empty;
    for (int draw = 0; draw < kDrawsOfASlot; ++draw) {
      Choices choices(seed, slot * kDrawsOfASlot + static_cast<size_t>(draw));
      std::string text = expression(family, choices, train_len);
      if (has_rope) text += " + rope";
      try {
        text = checked(scale, text);
      } catch (const ConfigError&) {
        ++space.n_refused;
        continue;
      }
      if (!known.insert(text).second) {
        ++space.n_equal;
        continue;
      }
      space.candidates.push_back({concat('k', space.candidates.size() + 1), family, text});
      n_empty = 0;
      break;
    }
  }
  return space;
}

}  // namespace farfield::sweep
