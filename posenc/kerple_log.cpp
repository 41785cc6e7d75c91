// KERPLE, logarithmic variant: a learned, logarithmic decay per head.
// Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE: Kernelized Relative Positional Embedding for Length
// Extrapolation", arXiv:2205.09921, equation (4); initial values and bounds as in the authors'
// code.

#include <vector>

#include "engine/ops.h"
#include "posenc/head_parameter.h"
#include "posenc/registry.h"

namespace farfield::posenc {
namespace {

constexpr double kLeast = 0.01;

class KerpleLog final : public Encoding {
 public:
  KerpleLog(const Arguments& a, const Config& c)
      : r1_(a, c, "r1", 0, 2, kLeast), r2_(a, c, "r2", 0, 1, kLeast) {}

  ScoreRule score(const Positions& p) const override {  // b_h(d) = -r1 ln(1 + r2 d)
    return {.bias = -r1_.value() * log1p(r2_.value() * p.distances())};  // [H, 1], [S] -> [H, S]
  }
  std::vector<Parameter> parameters() const override { return {r1_.parameter(), r2_.parameter()}; }
  void project() override {
    r1_.project();
    r2_.project();
  }

 private:
  HeadParameter r1_, r2_;
};

}  // namespace

std::unique_ptr<Encoding> make_kerple_log(const Arguments& a, const Config& c) {
  return std::make_unique<KerpleLog>(a, c);
}

}  // namespace farfield::posenc
