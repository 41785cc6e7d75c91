// KERPLE, Gaussian-like kernel as a bias, of a learned power of the distance. It lifts near keys by
// up to r1 and never pushes far ones down.
// Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE: Kernelized Relative Positional Embedding for Length
// Extrapolation", arXiv:2205.09921, appendix A.3 (3-para-bias). The authors' code does
// not have it: initial values and bounds are as for its other kernels.

#include "engine/ops.h"
#include "posenc/gauss_rate.h"
#include "posenc/registry.h"

namespace farfield::posenc {
namespace {

class GaussBias3 final : public HeadEncoding {
 public:
  GaussBias3(const Arguments& a, const Config& c)
      : HeadEncoding({{a, c, "r1", Uniform{0, 2}, kAmplitude},
                      gauss_rate(a, c, "r2"),
                      {a, c, "r3", Uniform{0, 2}, kPower}}) {}
  ScoreRule score(const Positions& p) const override {         // b_h(d) = r1 exp(-r2 d^r3)
    const Tensor r1 = value(0), r2 = value(1), r3 = value(2);  // [H, 1]
    return {.bias = r1 * exp(-r2 * pow(p.distances(), r3))};   // [H, 1], [S] -> [H, S]
  }
};

}  // namespace

std::unique_ptr<Encoding> make_gauss_bias3(const Arguments& a, const Config& c) {
  return std::make_unique<GaussBias3>(a, c);
}

}  // namespace farfield::posenc
