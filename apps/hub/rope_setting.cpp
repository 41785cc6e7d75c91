#include "apps/hub/rope_setting.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "apps/cli/option.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::hub {
namespace {

class RopeTerm {
 public:
  explicit RopeTerm(std::string name) : name_(std::move(name)) {}
  void add(const char* key, double value) {
    arguments_.push_back(concat(key, '=', cli::show_value(value)));
  }
  void add(const char* key, const std::vector<double>& values) {
    std::vector<std::string> list;
    for (const double value : values) list.push_back(cli::show_value(value));
    arguments_.push_back(concat(key, "=[", joined(list, ", "), ']'));
  }
  std::string text() const {
    return arguments_.empty() ? name_ : concat(name_, '(', joined(arguments_, ", "), ')');
  }

 private:
  std::string name_;
  std::vector<std::string> arguments_;
};

// The length that a scaling refers to. Phi-3 has it beside the scaling, and there it counts.
double original_length(ConfigReader& config, ConfigReader& scaling, int64_t train_len) {
  const char* const key = "original_max_position_embeddings";
  return config.number(key, scaling.number(key, static_cast<double>(train_len)));
}

// YaRN multiplies cos and sin by this, unless the config says otherwise.
void expect_yarn_factor(ConfigReader& scaling, double factor) {
  const double usual = 0.1 * std::log(factor) + 1;
  if (std::abs(scaling.number("attention_factor", usual) - usual) > 1e-12 * usual)
    scaling.refuse("attention_factor",
                   concat(usual, " or none, since another factor is not implemented"));
  for (const char* key : {"mscale", "mscale_all_dim"})
    if (scaling.has(key)) scaling.refuse(key, "none, since it is not implemented");
  scaling.expect("truncate", true, true);
}

RopeTerm longrope(ConfigReader& config, ConfigReader& scaling, int64_t train_len) {
  RopeTerm term("rope_longrope");
  term.add("long_factor", scaling.numbers("long_factor"));
  term.add("short_factor", scaling.numbers("short_factor"));
  const double original = original_length(config, scaling, train_len);
  term.add("original_length", original);
  term.add("scale",
           std::max(1.0, scaling.number("factor", static_cast<double>(train_len) / original)));
  if (scaling.has("attention_factor"))
    term.add("attention_factor", scaling.number("attention_factor"));
  return term;
}

RopeTerm scaled(ConfigReader& config, ConfigReader& scaling, const std::string& kind,
                int64_t train_len) {
  if (kind == "default") return RopeTerm("rope");
  if (kind == "linear") {
    RopeTerm term("rope_linear");
    term.add("scale", scaling.number("factor"));
    return term;
  }
  if (kind == "dynamic") {
    RopeTerm term("rope_dynamic_ntk");
    term.add("factor", scaling.number("factor"));
    term.add("original_length", static_cast<double>(train_len));
    return term;
  }
  if (kind == "yarn") {
    RopeTerm term("rope_yarn");
    const double factor = scaling.number("factor");
    term.add("scale", factor);
    term.add("original_length", original_length(config, scaling, train_len));
    term.add("beta_fast", scaling.number("beta_fast", 32));
    term.add("beta_slow", scaling.number("beta_slow", 1));
    expect_yarn_factor(scaling, factor);
    return term;
  }
  if (kind == "llama3") {
    RopeTerm term("rope_llama3");
    term.add("scale", scaling.number("factor"));
    term.add("low", scaling.number("low_freq_factor"));
    term.add("high", scaling.number("high_freq_factor"));
    term.add("original_length", original_length(config, scaling, train_len));
    return term;
  }
  if (kind == "longrope") return longrope(config, scaling, train_len);
  scaling.refuse(scaling.has("rope_type") ? "rope_type" : "type",
                 "default, linear, dynamic, yarn, llama3 or longrope; others are not implemented");
}

}  // namespace

std::string rope_expression(ConfigReader& config, int64_t train_len, const RopeDefaults& defaults) {
  double theta = config.number(defaults.theta_key, defaults.theta);
  double rotary_pct = defaults.rotary_pct_key.empty()
                          ? defaults.rotary_pct
                          : config.number(defaults.rotary_pct_key, defaults.rotary_pct);
  std::unique_ptr<ConfigReader> scaling = config.object("rope_scaling"),
                                parameters = config.object("rope_parameters");
  if (scaling == nullptr) scaling = std::move(parameters);
  RopeTerm term("rope");
  if (scaling != nullptr) {
    const std::string kind = scaling->word("rope_type", scaling->word("type", "default"));
    theta = scaling->number("rope_theta", theta);
    rotary_pct = scaling->number("partial_rotary_factor", rotary_pct);
    term = scaled(config, *scaling, kind, train_len);
    scaling->ignore({"original_max_position_embeddings"});
    scaling->require_all_known();
  }
  if (rotary_pct == 0) return "none";
  if (theta != 10000) term.add("base", theta);
  if (rotary_pct != 1) term.add("rotary_pct", rotary_pct);
  return term.text();
}

}  // namespace farfield::hub
