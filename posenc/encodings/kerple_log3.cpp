// KERPLE, logarithmic variant with three parameters: the logarithm of a learned power of the
// distance. Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE: Kernelized Relative Positional Embedding
// for Length Extrapolation", arXiv:2205.09921, section 5.3 (3-para-log). The authors' code does not
// have it: initial values and bounds are as for its other kernels.

#include <cmath>

#include "engine/ops.h"
#include "posenc/kerple.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

class KerpleLog3 final : public HeadEncoding {
 public:
  using HeadEncoding::HeadEncoding;

  // b(d) = -r1 ln(1 + r2 d^r3), of numbers and of tensors: [S] and [H, 1] -> [H, S]
  static auto bias(const auto& d, const auto& r1, const auto& r2, const auto& r3) {
    using std::log1p;
    using std::pow;
    return -r1 * log1p(r2 * pow(d, r3));
  }
  ScoreRule score(const Positions& p) const override {
    return {.bias = bias(p.distances(), value(0), value(1), value(2))};
  }
  std::optional<Decay> decay(size_t head) const override {
    const double r1 = positive_value(0, head), r2 = positive_value(1, head),
                 r3 = positive_value(2, head);
    return Decay{[=](double d) { return bias(d, r1, r2, r3); },
                 [=](double depth) { return std::pow(std::expm1(depth / r1) / r2, 1 / r3); }};
  }
};

}  // namespace

Row kerple_log3_row() {
  return {.name = "kerple_log3",
          .classes = "T-b",
          .meaning = "kerple_log of a learned power of the distance",
          .formula = "b = -r1 ln(1 + r2 d^r3)",
          .source = "Chi et al. 2022, arXiv:2205.09921, section 5.3",
          .arguments = {amplitude_argument("r1", uniform(0, 2)), rate_argument("r2"),
                        power_argument("r3"), constraint_argument(), learn_argument(),
                        share_argument(), bias_scale_argument()},
          .family = families::kKerple,
          .make = make<KerpleLog3>};
}

}  // namespace farfield::posenc
