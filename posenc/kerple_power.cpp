// KERPLE, power variant: a learned decay by a learned power of the distance. With power 1 it is
// ALiBi with a learned slope.
// Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE: Kernelized Relative Positional Embedding for Length
// Extrapolation", arXiv:2205.09921, equation (4); initial values and bounds as in the authors'
// code.

#include "engine/ops.h"
#include "posenc/head_parameter.h"
#include "posenc/registry.h"

namespace farfield::posenc {
namespace {

class KerplePower final : public HeadEncoding {
 public:
  KerplePower(const Arguments& a, const Config& c)
      : HeadEncoding(
            {{a, c, "r1", Uniform{0, 1}, kAmplitude}, {a, c, "r2", Uniform{0, 2}, kPower}}) {}
  ScoreRule score(const Positions& p) const override {  // b_h(d) = -r1 d^r2
    const Tensor r1 = value(0), r2 = value(1);          // [H, 1]
    return {.bias = -r1 * pow(p.distances(), r2)};      // [H, 1], [S] -> [H, S]
  }
};

}  // namespace

std::unique_ptr<Encoding> make_kerple_power(const Arguments& a, const Config& c) {
  return std::make_unique<KerplePower>(a, c);
}

}  // namespace farfield::posenc
