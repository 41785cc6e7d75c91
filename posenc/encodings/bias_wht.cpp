// KERPLE, bias+wht: a learned weight on the scaled dot product, then the bias of kerple_power.
// A weight near 0 takes the content of a key away, not the key: it keeps the share exp(bias).
// Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE: Kernelized Relative Positional Embedding for Length
// Extrapolation", arXiv:2205.09921, section 5.3; initial values and bounds as in the authors' code.

#include "engine/ops.h"
#include "posenc/kerple.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

class BiasWht final : public HeadEncoding {
 public:
  using HeadEncoding::HeadEncoding;

  // b_h(d) = -r1 d^r2, w_h(d) = exp(-r3 d^r4)
  ScoreRule score(const Positions& p) const override {
    const Tensor d = p.distances();                                           // [S]
    const Tensor r1 = value(0), r2 = value(1), r3 = value(2), r4 = value(3);  // [H, 1]
    return {.bias = -r1 * pow(d, r2), .weight = exp(-r3 * pow(d, r4))};       // [H, S]
  }
};

}  // namespace

Row bias_wht_row() {
  return {.name = "bias_wht",
          .classes = "T-bw",
          .meaning = "kerple_power, and a learned weight on the dot product",
          .formula = "b = -r1 d^r2, w = exp(-r3 d^r4)",
          .source = "Chi et al. 2022, arXiv:2205.09921, section 5.3",
          .arguments = {amplitude_argument("r1", uniform(0, 1)), power_argument("r2"),
                        rate_argument("r3"), power_argument("r4"), constraint_argument(),
                        learn_argument(), share_argument(), bias_scale_argument()},
          .family = families::kKerple,
          .make = make<BiasWht>};
}

}  // namespace farfield::posenc
