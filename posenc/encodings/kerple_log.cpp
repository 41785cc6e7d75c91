// KERPLE, logarithmic variant: a learned, logarithmic decay per head.
// Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE: Kernelized Relative Positional Embedding for Length
// Extrapolation", arXiv:2205.09921, equation (4); initial values and bounds as in the authors'
// code.

#include <cmath>

#include "engine/ops.h"
#include "posenc/kerple.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

class KerpleLog final : public HeadEncoding {
 public:
  using HeadEncoding::HeadEncoding;

  // b(d) = -r1 ln(1 + r2 d), of numbers and of tensors: [S] and [H, 1] -> [H, S]
  static auto bias(const auto& d, const auto& r1, const auto& r2) {
    using std::log1p;
    return -r1 * log1p(r2 * d);
  }
  ScoreRule score(const Positions& p) const override {
    return {.bias = bias(p.distances(), value(0), value(1))};
  }
  std::optional<Decay> decay(size_t head) const override {
    const double r1 = positive_value(0, head), r2 = positive_value(1, head);
    return Decay{[=](double d) { return bias(d, r1, r2); },
                 [=](double depth) { return std::expm1(depth / r1) / r2; }};
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
          .family = families::kKerple,
          .make = make<KerpleLog>};
}

}  // namespace farfield::posenc
