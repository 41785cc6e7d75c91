// KERPLE, logarithmic variant: a learned, logarithmic decay per head.
// Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE: Kernelized Relative Positional Embedding for Length
// Extrapolation", arXiv:2205.09921, equation (4); initial values and bounds as in the authors'
// code.

#include "engine/ops.h"
#include "posenc/head_parameter.h"
#include "posenc/registry.h"

namespace farfield::posenc {
namespace {

class KerpleLog final : public HeadEncoding {
 public:
  KerpleLog(const Arguments& a, const Config& c)
      : HeadEncoding(
            {{a, c, "r1", Uniform{0, 2}, kAmplitude}, {a, c, "r2", Uniform{0, 1}, kRate}}) {}
  ScoreRule score(const Positions& p) const override {  // b_h(d) = -r1 ln(1 + r2 d)
    const Tensor r1 = value(0), r2 = value(1);          // [H, 1]
    return {.bias = -r1 * log1p(r2 * p.distances())};   // [H, 1], [S] -> [H, S]
  }
};

}  // namespace

std::unique_ptr<Encoding> make_kerple_log(const Arguments& a, const Config& c) {
  return std::make_unique<KerpleLog>(a, c);
}

}  // namespace farfield::posenc
