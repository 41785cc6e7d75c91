// KERPLE, logarithmic variant with three parameters: the logarithm of a learned power of the
// distance. Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE: Kernelized Relative Positional Embedding
// for Length Extrapolation", arXiv:2205.09921, section 5.3 (3-para-log). The authors' code does not
// have it: initial values and bounds are as for its other kernels.

#include "engine/ops.h"
#include "posenc/kerple.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

class KerpleLog3 final : public HeadEncoding {
 public:
  using HeadEncoding::HeadEncoding;
  ScoreRule score(const Positions& p) const override {          // b_h(d) = -r1 ln(1 + r2 d^r3)
    const Tensor r1 = value(0), r2 = value(1), r3 = value(2);   // [H, 1]
    return {.bias = -r1 * log1p(r2 * pow(p.distances(), r3))};  // [H, 1], [S] -> [H, S]
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
          .make = make<KerpleLog3>};
}

}  // namespace farfield::posenc
