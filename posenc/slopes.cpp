#include "posenc/slopes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "engine/ops.h"
#include "posenc/registry.h"
#include "posenc/rescale.h"

namespace farfield::posenc {
namespace {

class FixedSlopes final : public Encoding {
 public:
  explicit FixedSlopes(Tensor slope) : slope_(std::move(slope)) {}
  ScoreRule score(const Positions& p) const override { return {.bias = linear_bias(slope_, p)}; }

 private:
  Tensor slope_;  // [H, 1], logits per token
};

}  // namespace

std::vector<double> geometric_slopes(int64_t n_head) {
  std::vector<double> slopes;
  for (int64_t h = 1; h <= n_head; ++h)
    slopes.push_back(std::exp2(-8.0 * static_cast<double>(h) / static_cast<double>(n_head)));
  return slopes;
}

std::vector<double> interpolated_slopes(int64_t n_head) {
  const auto k = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(n_head)));
  std::vector<double> slopes = geometric_slopes(k);
  const std::vector<double> finer = geometric_slopes(2 * k);
  for (size_t i = 0; slopes.size() < static_cast<size_t>(n_head); i += 2)
    slopes.push_back(finer[i]);
  return slopes;
}

Tensor linear_bias(const Tensor& slope, const Positions& p) { return -slope * p.distances(); }

Decay linear_decay(double slope) {
  require<IoError>(slope > 0 && std::isfinite(slope), "posenc",
                   "bad_parameter: expected a finite slope above 0, got ", slope);
  return {[slope](double d) { return -slope * d; },
          [slope](double depth) { return depth / slope; }};
}

ArgumentSpec slopes_argument(std::vector<std::string> sets) {
  return per_head_argument("slopes", sets.at(0), "slope set, or one slope per head")
      .at_least(0)
      .or_words(std::move(sets));
}

std::vector<double> read_slopes(const Arguments& a, const Config& c) {
  const std::string set = a.word("slopes");
  return set == "interp"      ? interpolated_slopes(c.n_head)
         : set == "geometric" ? geometric_slopes(c.n_head)
                              : a.per_head("slopes");
}

void rescale_slopes(ParsedTerm& term, const LengthChange& change) {
  const Row& row = *find("alibi_shift");
  // Both sets of slopes are one where the number of heads is a power of two; elsewhere the word
  // stays, and alibi's own, which is not that of alibi_shift, is written out.
  if (std::has_single_bit(static_cast<uint64_t>(change.n_head)))
    std::erase_if(term.arguments, [](const ParsedArgument& a) {
      return a.name == "slopes" && a.value.kind == Value::Kind::word;
    });
  else if (term.name != row.name && find_argument(term, "slopes") == nullptr)
    term.arguments.push_back({.name = "slopes", .value = Value(std::string("interp"))});
  term.name = row.name;
  if (find_argument(term, "delta") == nullptr)
    term.arguments.push_back({.name = "delta", .value = Value(0.0)});
  rescale_arguments(term, row.arguments, change);
}

ArgumentSpec slope_floor_argument() {
  return number_argument("slope_floor", 0, "smallest slope")
      .in(ArgumentSpec::Unit::per_token)
      .at_least(0);
}

std::unique_ptr<Encoding> fixed_slopes(std::vector<double> slopes, const Arguments& a,
                                       const Config& c) {
  for (double& slope : slopes) slope = std::max(slope, a.number("slope_floor"));
  return std::make_unique<FixedSlopes>(Tensor::from(slopes, {c.n_head, 1}, DType::f64, c.device));
}

}  // namespace farfield::posenc
