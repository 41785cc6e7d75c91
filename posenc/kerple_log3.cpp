// KERPLE, logarithmic variant with three parameters: the logarithm of a learned power of the
// distance. Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE: Kernelized Relative Positional Embedding
// for Length Extrapolation", arXiv:2205.09921, section 5.3 (3-para-log). The authors' code does not
// have it: initial values and bounds are as for its other kernels.

#include "engine/ops.h"
#include "posenc/head_parameter.h"
#include "posenc/registry.h"

namespace farfield::posenc {
namespace {

class KerpleLog3 final : public HeadEncoding {
 public:
  KerpleLog3(const Arguments& a, const Config& c)
      : HeadEncoding({{a, c, "r1", Uniform{0, 2}, kAmplitude},
                      {a, c, "r2", Uniform{0, 1}, kRate},
                      {a, c, "r3", Uniform{0, 2}, kPower}}) {}
  ScoreRule score(const Positions& p) const override {          // b_h(d) = -r1 ln(1 + r2 d^r3)
    const Tensor r1 = value(0), r2 = value(1), r3 = value(2);   // [H, 1]
    return {.bias = -r1 * log1p(r2 * pow(p.distances(), r3))};  // [H, 1], [S] -> [H, S]
  }
};

}  // namespace

std::unique_ptr<Encoding> make_kerple_log3(const Arguments& a, const Config& c) {
  return std::make_unique<KerpleLog3>(a, c);
}

}  // namespace farfield::posenc
