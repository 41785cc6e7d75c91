// KERPLE, bias+wht: a learned weight on the scaled dot product, then the bias of kerple_power.
// A weight near 0 takes the content of a key away, not the key: it keeps the share exp(bias).
// Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE: Kernelized Relative Positional Embedding for Length
// Extrapolation", arXiv:2205.09921, section 5.3; initial values and bounds as in the authors' code.

#include "engine/ops.h"
#include "posenc/head_parameter.h"
#include "posenc/registry.h"

namespace farfield::posenc {
namespace {

class BiasWht final : public HeadEncoding {
 public:
  BiasWht(const Arguments& a, const Config& c)
      : HeadEncoding({{a, c, "r1", Uniform{0, 1}, kAmplitude},
                      {a, c, "r2", Uniform{0, 2}, kPower},
                      {a, c, "r3", Uniform{0, 1}, kRate},
                      {a, c, "r4", Uniform{0, 2}, kPower}}) {}

  // b_h(d) = -r1 d^r2, w_h(d) = exp(-r3 d^r4)
  ScoreRule score(const Positions& p) const override {
    const Tensor d = p.distances();                                           // [S]
    const Tensor r1 = value(0), r2 = value(1), r3 = value(2), r4 = value(3);  // [H, 1]
    return {.bias = -r1 * pow(d, r2), .weight = exp(-r3 * pow(d, r4))};       // [H, S]
  }
};

}  // namespace

std::unique_ptr<Encoding> make_bias_wht(const Arguments& a, const Config& c) {
  return std::make_unique<BiasWht>(a, c);
}

}  // namespace farfield::posenc
