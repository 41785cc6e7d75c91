// ALiBi with trained slopes, e^theta. Tried and given up by Press, Smith and Lewis 2022, "Train
// Short, Test Long", arXiv:2108.12409, section 3, which does not say how; here by their logarithms,
// so that they stay positive.

#include <cmath>

#include "engine/ops.h"
#include "posenc/head_parameter.h"
#include "posenc/registry.h"
#include "posenc/slopes.h"

namespace farfield::posenc {
namespace {

std::vector<double> start(const Config& c) {
  std::vector<double> theta = interpolated_slopes(c.n_head);
  for (double& x : theta) x = std::log(x);
  return theta;
}

class AlibiLearned final : public HeadEncoding {
 public:
  AlibiLearned(const Arguments& a, const Config& c) : HeadEncoding({{a, c, "theta", start(c)}}) {}
  ScoreRule score(const Positions& p) const override {  // b_h(d) = -e^theta d
    return {.bias = linear_bias(exp(value(0)), p)};
  }
};

}  // namespace

std::unique_ptr<Encoding> make_alibi_learned(const Arguments& a, const Config& c) {
  return std::make_unique<AlibiLearned>(a, c);
}

}  // namespace farfield::posenc
