#include "posenc/rotary.h"

#include <cmath>

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

Rotary::Rotary(const Arguments& a, const Config& c)
    : dims_(rotary_dims(a, c)),
      base_(a.number("base")),
      interleaved_(a.word("layout") == "interleaved"),
      emulate_bf16_(a.word("angle_dtype") == "bf16") {}

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

}  // namespace farfield::posenc
