// Sandwich with learned compression ratios, h = e^theta: by their logarithms, so that they stay
// positive. Chi, Fan, Rudnicky and Ramadge 2023, "Dissecting Transformer Length Extrapolation via
// the Lens of Receptive Field Analysis", arXiv:2212.10356, section 6.2, leaves it to future work.

#include "engine/ops.h"
#include "posenc/head_parameter.h"
#include "posenc/row.h"
#include "posenc/sandwich_curve.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

class SandwichLearned final : public HeadEncoding {
 public:
  SandwichLearned(const Arguments& a, const Config& c) : HeadEncoding(a, c), curve_(a) {}
  ScoreRule score(const Positions& p) const override {  // b_h(d) = S(d) e^-theta
    return {.bias = curve_.table(p) * exp(-value(0))};  // [1, S] * [H, 1] -> [H, S]
  }

 private:
  SandwichCurve curve_;
};

}  // namespace

Row sandwich_learned_row() {
  return {
      .name = "sandwich_learned",
      .classes = "T-b",
      .meaning = "sandwich with trained compression ratios",
      .formula = "b = S(d) e^-theta_j",
      .source = "Chi et al. 2023, arXiv:2212.10356, section 6.2",
      .arguments = {bar_d_argument(), base_argument(), first_index_argument(),
                    theta_argument("ln(8j/n_head)", compression_ratios,
                                   "logarithm of the compression ratio at the start of training"),
                    learn_argument(), share_argument(), bias_scale_argument()},
      .family = families::kCurves,
      .make = make<SandwichLearned>};
}

}  // namespace farfield::posenc
