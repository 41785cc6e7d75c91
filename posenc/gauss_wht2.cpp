// KERPLE, Gaussian-like kernel as a weight on the scaled dot product, of a learned power of the
// distance.
// Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE: Kernelized Relative Positional Embedding for Length
// Extrapolation", arXiv:2205.09921, appendix A.3 (2-para-wht). Initial values
// and bounds as in the authors' code.

#include "engine/ops.h"
#include "posenc/gauss_rate.h"
#include "posenc/registry.h"

namespace farfield::posenc {
namespace {

class GaussWht2 final : public HeadEncoding {
 public:
  GaussWht2(const Arguments& a, const Config& c)
      : HeadEncoding({gauss_rate(a, c, "r1"), {a, c, "r2", Uniform{0, 2}, kPower}}) {}
  ScoreRule score(const Positions& p) const override {     // w_h(d) = exp(-r1 d^r2)
    const Tensor r1 = value(0), r2 = value(1);             // [H, 1]
    return {.weight = exp(-r1 * pow(p.distances(), r2))};  // [H, 1], [S] -> [H, S]
  }
};

}  // namespace

std::unique_ptr<Encoding> make_gauss_wht2(const Arguments& a, const Config& c) {
  return std::make_unique<GaussWht2>(a, c);
}

}  // namespace farfield::posenc
