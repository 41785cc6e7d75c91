#include "posenc/rotary.h"

#include <algorithm>
#include <cmath>

#include "posenc/registry.h"

namespace farfield::posenc {
namespace {

int64_t rotary_dims(const Arguments& a, const Config& c) {
  const double pct = a.number("rotary_pct");
  // The product of a short decimal and a size may come out just below an integer.
  const auto dims = static_cast<int64_t>(std::floor(static_cast<double>(c.head_dim) * pct + 1e-9));
  a.require(dims >= 2 && dims % 2 == 0, "rotary_pct",
            "expected an even number of rotated components, at least 2, got ", dims, " (head_dim ",
            c.head_dim, " x rotary_pct ", to_text(pct), ')');
  return dims;
}

}  // namespace

std::vector<ArgumentSpec> rotary_arguments(std::vector<ArgumentSpec> own,
                                           std::vector<std::string> layouts) {
  const auto as_trained = [](auto TrainedRotation::*part) {
    return [part](const Config& c) {
      const auto& value = c.trained_rotation.*part;
      return value ? std::optional<Value>(*value) : std::nullopt;
    };
  };
  const bool has_trained_layout = layouts.size() > 1;
  own.push_back(base_argument().or_as_trained(as_trained(&TrainedRotation::base)));
  const ArgumentSpec layout = layout_argument(std::move(layouts));
  own.push_back(has_trained_layout ? layout.or_as_trained(as_trained(&TrainedRotation::layout))
                                   : layout);
  own.push_back(number_argument("rotary_pct", 1, "share of head_dim that is rotated")
                    .above(0)
                    .at_most(1)
                    .or_as_trained(as_trained(&TrainedRotation::rotary_pct)));
  own.push_back(angle_argument());
  return own;
}

TrainedRotation trained_rotation(const std::vector<ParsedTerm>& terms) {
  for (const ParsedTerm& term : terms) {
    const Row* const row = find(term.name);
    if (row == nullptr || std::none_of(row->arguments.begin(), row->arguments.end(),
                                       [](const auto& a) { return a.name == "rotary_pct"; }))
      continue;
    TrainedRotation found;
    for (const ParsedArgument& argument : term.arguments) {
      if (argument.name == "base") found.base = argument.value.number;
      if (argument.name == "rotary_pct") found.rotary_pct = argument.value.number;
      if (argument.name == "layout") found.layout = argument.value.text;
    }
    return found;
  }
  return {};
}

std::vector<ArgumentSpec> two_branch_arguments(std::vector<ArgumentSpec> own) {
  own.push_back(at_argument({"eval", "both"}));
  return rotary_arguments(std::move(own));
}

Rotary::Rotary(const Arguments& a, const Config& c)
    : dims_(rotary_dims(a, c)),
      base_(a.number("base")),
      interleaved_(a.word("layout") == "interleaved"),
      emulate_bf16_(a.word("angle_dtype") == "bf16") {}

double Rotary::ntk_base(double alpha) const {
  const auto r = static_cast<double>(dims_);
  return base_ * std::pow(alpha, r / (r - 2));
}

void Rotary::require_ntk(const Arguments& a) const {
  a.require(dims_ >= 4, "rotary_pct",
            "expected at least 4 rotated components, of which the first two keep their frequency, "
            "got ",
            dims_);
}

Rotation Rotary::rotation(const Positions& p, std::vector<double> inv_freq, double factor) const {
  const Angles angles(std::move(inv_freq), emulate_bf16_);
  const auto [cos, sin] = angles.waves(p.query_ids(), factor);
  return {.cos = p.query_table(cos, dims_ / 2),
          .sin = p.query_table(sin, dims_ / 2),
          .interleaved = interleaved_};
}

Rotation::Far Rotary::far(const Positions& p, const std::vector<double>& ids_q,
                          const std::vector<double>& ids_k) const {
  const Angles angles(inv_freq(), emulate_bf16_);
  const auto q = angles.waves(ids_q), k = angles.waves(ids_k);
  const auto table = [&](const std::vector<double>& x) { return p.query_table(x, dims_ / 2); };
  return {
      .cos_q = table(q.cos), .sin_q = table(q.sin), .cos_k = table(k.cos), .sin_k = table(k.sin)};
}

Positions CappedRotary::positions(const Positions& plain) const {
  Positions p = plain;
  if (acts(p))
    for (double& d : p.distance) d = std::min(d, static_cast<double>(limit_));
  return p;
}

Rotation CappedRotary::rotation(const Positions& p) const {
  Rotation rotation = rotary_.rotation(p);
  const auto limit = static_cast<double>(limit_);
  if (acts(p) && p.n_key > limit_)
    rotation.far = rotary_.far(
        p, [limit](double) { return limit; }, [](double) { return 0.0; });
  return rotation;
}

}  // namespace farfield::posenc
