// ALiBi with slopes that are drawn once, when the model is made, from an exponential distribution.
// Press, Smith and Lewis 2022, "Train Short, Test Long", arXiv:2108.12409, section 3; it gives no
// rate. Rate 8 gives the mean of the geometric slopes of 8 heads.

#include <algorithm>
#include <cmath>
#include <functional>

#include "engine/base/random.h"
#include "engine/ops.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"
#include "posenc/slopes.h"

namespace farfield::posenc {
namespace {

// Independent, -ln(1 - u) / rate with u uniform in [0, 1); slopes of 1 and more are drawn again.
// Descending.
std::vector<double> random_slopes(const Random& random, double rate, int64_t n_head) {
  std::vector<double> slopes;
  for (uint64_t i = 0; slopes.size() < static_cast<size_t>(n_head); ++i) {
    const double slope = -std::log1p(-random.uniform(i)) / rate;
    if (slope < 1) slopes.push_back(slope);
  }
  std::sort(slopes.begin(), slopes.end(), std::greater<>());
  return slopes;
}

class AlibiRandom final : public Encoding {
 public:
  AlibiRandom(const Arguments& a, const Config& c) : name_(a.path() + ".slopes") {
    const Random random{c.seed, stream_of("posenc." + name_)};
    slope_ = Tensor::from(random_slopes(random, a.number("rate"), c.n_head), {c.n_head}, c.dtype,
                          c.device);
  }
  ScoreRule score(const Positions& p) const override {
    return {.bias = linear_bias(reshape(cast(slope_, DType::f64), {slope_.dim(0), 1}), p)};
  }
  // A checkpoint keeps the drawn slopes: another machine's logarithm may differ in the last bit.
  std::vector<Parameter> parameters() const override { return {{name_, slope_, /*decay=*/false}}; }

 private:
  std::string name_;
  Tensor slope_;  // [H], logits per token, not trained
};

}  // namespace

Row alibi_random_row() {
  return {
      .name = "alibi_random",
      .classes = "T-b",
      .meaning = "alibi with slopes drawn once from an exponential distribution",
      .formula = "b = -slope_j d, slopes drawn once: -ln(1 - u) / rate, again when >= 1, sorted",
      .source = "Press et al. 2022, arXiv:2108.12409, section 3",
      .arguments = {number_argument("rate", 8,
                                    "of the distribution; slopes have the mean 1/rate, nearly")
                        .at_least(0.01),
                    // Drawn slopes are below 1 at any rate: the factor alone makes them steeper.
                    bias_scale_argument().in(ArgumentSpec::Unit::per_token)},
      .family = families::kLinear,
      .make = make<AlibiRandom>};
}

}  // namespace farfield::posenc
