// Sandwich with learned compression ratios, h = e^theta: by their logarithms, so that they stay
// positive. Chi, Fan, Rudnicky and Ramadge 2023, "Dissecting Transformer Length Extrapolation via
// the Lens of Receptive Field Analysis", arXiv:2212.10356, section 6.2, leaves it to future work.

#include <cmath>

#include "engine/ops.h"
#include "posenc/head_parameter.h"
#include "posenc/registry.h"
#include "posenc/sandwich_curve.h"

namespace farfield::posenc {
namespace {

std::vector<double> start(const Config& c) {
  std::vector<double> theta = compression_ratios(c.n_head);
  for (double& x : theta) x = std::log(x);
  return theta;
}

class SandwichLearned final : public HeadEncoding {
 public:
  SandwichLearned(const Arguments& a, const Config& c)
      : HeadEncoding({{a, c, "theta", start(c)}}), curve_(a) {}
  ScoreRule score(const Positions& p) const override {  // b_h(d) = S(d) e^-theta
    return {.bias = curve_.table(p) * exp(-value(0))};  // [1, S] * [H, 1] -> [H, S]
  }

 private:
  SandwichCurve curve_;
};

}  // namespace

std::unique_ptr<Encoding> make_sandwich_learned(const Arguments& a, const Config& c) {
  return std::make_unique<SandwichLearned>(a, c);
}

}  // namespace farfield::posenc
