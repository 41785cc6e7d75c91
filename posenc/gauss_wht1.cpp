// KERPLE, Gaussian-like kernel as a weight on the scaled dot product, of the squared distance.
// Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE: Kernelized Relative Positional Embedding for Length
// Extrapolation", arXiv:2205.09921, appendix A.3 (1-para-wht). The authors' code does
// not have it: initial values and bounds are as for its other kernels.

#include "engine/ops.h"
#include "posenc/gauss_rate.h"
#include "posenc/registry.h"

namespace farfield::posenc {
namespace {

class GaussWht1 final : public HeadEncoding {
 public:
  GaussWht1(const Arguments& a, const Config& c) : HeadEncoding({gauss_rate(a, c, "r1")}) {}
  ScoreRule score(const Positions& p) const override {          // w_h(d) = exp(-r1 d^2)
    return {.weight = exp(-value(0) * square(p.distances()))};  // [H, 1], [S] -> [H, S]
  }
};

}  // namespace

std::unique_ptr<Encoding> make_gauss_wht1(const Arguments& a, const Config& c) {
  return std::make_unique<GaussWht1>(a, c);
}

}  // namespace farfield::posenc
