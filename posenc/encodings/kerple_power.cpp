// KERPLE, power variant: a learned decay by a learned power of the distance. With power 1 it is
// ALiBi with a learned slope.
// Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE: Kernelized Relative Positional Embedding for Length
// Extrapolation", arXiv:2205.09921, equation (4); initial values and bounds as in the authors'
// code.

#include "engine/ops.h"
#include "posenc/kerple.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

class KerplePower final : public HeadEncoding {
 public:
  using HeadEncoding::HeadEncoding;
  ScoreRule score(const Positions& p) const override {  // b_h(d) = -r1 d^r2
    const Tensor r1 = value(0), r2 = value(1);          // [H, 1]
    return {.bias = -r1 * pow(p.distances(), r2)};      // [H, 1], [S] -> [H, S]
  }
};

}  // namespace

Row kerple_power_row() {
  return {.name = "kerple_power",
          .classes = "T-b",
          .meaning = "a learned bias that falls with a learned power of the distance",
          .formula = "b = -r1 d^r2",
          .source = "Chi et al. 2022, arXiv:2205.09921, equation (4)",
          .arguments = {amplitude_argument("r1", uniform(0, 1)), power_argument("r2"),
                        constraint_argument(), learn_argument(), share_argument(),
                        bias_scale_argument()},
          .make = make<KerplePower>};
}

}  // namespace farfield::posenc
