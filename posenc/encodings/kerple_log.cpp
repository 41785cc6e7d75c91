// KERPLE, logarithmic variant: a learned, logarithmic decay per head.
// Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE: Kernelized Relative Positional Embedding for Length
// Extrapolation", arXiv:2205.09921, equation (4); initial values and bounds as in the authors'
// code.

#include "engine/ops.h"
#include "posenc/kerple.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

class KerpleLog final : public HeadEncoding {
 public:
  using HeadEncoding::HeadEncoding;
  ScoreRule score(const Positions& p) const override {  // b_h(d) = -r1 ln(1 + r2 d)
    const Tensor r1 = value(0), r2 = value(1);          // [H, 1]
    return {.bias = -r1 * log1p(r2 * p.distances())};   // [H, 1], [S] -> [H, S]
  }
};

}  // namespace

Row kerple_log_row() {
  return {.name = "kerple_log",
          .synonyms = {"kerple"},
          .classes = "T-b",
          .meaning = "a learned bias that falls with the logarithm of the distance",
          .formula = "b = -r1 ln(1 + r2 d)",
          .source = "Chi et al. 2022, arXiv:2205.09921, equation (4)",
          .arguments = {amplitude_argument("r1", uniform(0, 2)), rate_argument("r2"),
                        constraint_argument(), learn_argument(), share_argument(),
                        bias_scale_argument()},
          .make = make<KerpleLog>};
}

}  // namespace farfield::posenc
