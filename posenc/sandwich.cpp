// Sandwich: the part of the product of two sinusoidal position vectors that depends on the
// distance, as a bias. Chi, Fan, Rudnicky and Ramadge 2023, "Dissecting Transformer Length
// Extrapolation via the Lens of Receptive Field Analysis", arXiv:2212.10356, equation (6).

#include "engine/ops.h"
#include "posenc/registry.h"
#include "posenc/sandwich_curve.h"

namespace farfield::posenc {
namespace {

class Sandwich final : public Encoding {
 public:
  Sandwich(const Arguments& a, const Config& c) : curve_(a), ratio_(read_ratios(a, c)) {}
  ScoreRule score(const Positions& p) const override {  // b_h(d) = S(d) / h_h
    return {.bias = curve_.table(p) / ratio_};          // [1, S] / [H, 1] -> [H, S]
  }

 private:
  SandwichCurve curve_;
  Tensor ratio_;  // [H, 1]
};

}  // namespace

std::unique_ptr<Encoding> make_sandwich(const Arguments& a, const Config& c) {
  return std::make_unique<Sandwich>(a, c);
}

}  // namespace farfield::posenc
