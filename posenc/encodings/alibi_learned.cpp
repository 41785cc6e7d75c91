// ALiBi with trained slopes, e^theta. Tried and given up by Press, Smith and Lewis 2022, "Train
// Short, Test Long", arXiv:2108.12409, section 3, which does not say how; here by their logarithms,
// so that they stay positive.

#include "engine/ops.h"
#include "posenc/head_parameter.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"
#include "posenc/slopes.h"

namespace farfield::posenc {
namespace {

class AlibiLearned final : public HeadEncoding {
 public:
  using HeadEncoding::HeadEncoding;
  ScoreRule score(const Positions& p) const override {  // b_h(d) = -e^theta d
    return {.bias = linear_bias(exp(value(0)), p)};
  }
};

}  // namespace

Row alibi_learned_row() {
  return {.name = "alibi_learned",
          .classes = "T-b",
          .meaning = "alibi with trained slopes",
          .formula = "b = -e^theta_j d",
          .source = "Press et al. 2022, arXiv:2108.12409, section 3",
          .arguments = {theta_argument("ln of the interp slopes", interpolated_slopes,
                                       "logarithm of the slope at the start of training")
                            .in(ArgumentSpec::Unit::log_per_token),
                        learn_argument(), share_argument(), bias_scale_argument()},
          .family = families::kLinear,
          .make = make<AlibiLearned>};
}

}  // namespace farfield::posenc
