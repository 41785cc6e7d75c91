// KERPLE, Gaussian-like kernel as a weight on the scaled dot product, of a learned power of the
// distance.
// Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE: Kernelized Relative Positional Embedding for Length
// Extrapolation", arXiv:2205.09921, appendix A.3 (2-para-wht). Initial values
// and bounds as in the authors' code.

#include "engine/ops.h"
#include "posenc/kerple.h"
#include "posenc/row.h"

namespace farfield::posenc {
namespace {

class GaussWht2 final : public GaussEncoding {
 public:
  using GaussEncoding::GaussEncoding;
  ScoreRule score(const Positions& p) const override {     // w_h(d) = exp(-r1 d^r2)
    const Tensor r1 = value(0), r2 = value(1);             // [H, 1]
    return {.weight = exp(-r1 * pow(p.distances(), r2))};  // [H, 1], [S] -> [H, S]
  }
};

}  // namespace

Row gauss_wht2_row() {
  return {.name = "gauss_wht2",
          .classes = "T-w",
          .meaning = "gauss_wht1 with a learned power of the distance",
          .formula = "w = exp(-r1 d^r2)",
          .source = "Chi et al. 2022, arXiv:2205.09921, appendix A.3",
          .arguments = {gauss_rate_argument("r1"), power_argument("r2"), gauss_rate_min_argument(),
                        constraint_argument(), learn_argument(), share_argument()},
          .family = families::kGauss,
          .make = make<GaussWht2>};
}

}  // namespace farfield::posenc
