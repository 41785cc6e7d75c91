// KERPLE, Gaussian-like kernel as a bias, of a learned power of the distance. It lifts near keys by
// up to r1 and never pushes far ones down.
// Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE: Kernelized Relative Positional Embedding for Length
// Extrapolation", arXiv:2205.09921, appendix A.3 (3-para-bias). The authors' code does
// not have it: initial values and bounds are as for its other kernels.

#include "engine/ops.h"
#include "posenc/kerple.h"
#include "posenc/row.h"

namespace farfield::posenc {
namespace {

class GaussBias3 final : public GaussEncoding {
 public:
  using GaussEncoding::GaussEncoding;
  ScoreRule score(const Positions& p) const override {         // b_h(d) = r1 exp(-r2 d^r3)
    const Tensor r1 = value(0), r2 = value(1), r3 = value(2);  // [H, 1]
    return {.bias = r1 * exp(-r2 * pow(p.distances(), r3))};   // [H, 1], [S] -> [H, S]
  }
};

}  // namespace

Row gauss_bias3_row() {
  return {.name = "gauss_bias3",
          .classes = "T-b",
          .meaning = "gauss_bias2 with a learned power of the distance",
          .formula = "b = r1 exp(-r2 d^r3)",
          .source = "Chi et al. 2022, arXiv:2205.09921, appendix A.3",
          .arguments = {amplitude_argument("r1", uniform(0, 2)), gauss_rate_argument("r2"),
                        power_argument("r3"), gauss_rate_min_argument(), constraint_argument(),
                        learn_argument(), share_argument(), bias_scale_argument()},
          .family = families::kGauss,
          .make = make<GaussBias3>};
}

}  // namespace farfield::posenc
