// KERPLE, Gaussian-like kernel as a weight on the scaled dot product, of the squared distance.
// Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE: Kernelized Relative Positional Embedding for Length
// Extrapolation", arXiv:2205.09921, appendix A.3 (1-para-wht). The authors' code does
// not have it: initial values and bounds are as for its other kernels.

#include "engine/ops.h"
#include "posenc/kerple.h"
#include "posenc/row.h"

namespace farfield::posenc {
namespace {

class GaussWht1 final : public GaussEncoding {
 public:
  using GaussEncoding::GaussEncoding;
  ScoreRule score(const Positions& p) const override {          // w_h(d) = exp(-r1 d^2)
    return {.weight = exp(-value(0) * square(p.distances()))};  // [H, 1], [S] -> [H, S]
  }
};

}  // namespace

Row gauss_wht1_row() {
  return {.name = "gauss_wht1",
          .classes = "T-w",
          .meaning = "a learned weight on the dot product, Gaussian in the distance",
          .formula = "w = exp(-r1 d^2)",
          .source = "Chi et al. 2022, arXiv:2205.09921, appendix A.3",
          .arguments = {gauss_rate_argument("r1"), gauss_rate_min_argument(), constraint_argument(),
                        learn_argument(), share_argument()},
          .family = families::kGauss,
          .make = make<GaussWht1>};
}

}  // namespace farfield::posenc
