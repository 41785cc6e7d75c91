// Sandwich: the part of the product of two sinusoidal position vectors that depends on the
// distance, as a bias. Chi, Fan, Rudnicky and Ramadge 2023, "Dissecting Transformer Length
// Extrapolation via the Lens of Receptive Field Analysis", arXiv:2212.10356, equation (6).

#include "engine/ops.h"
#include "posenc/row.h"
#include "posenc/sandwich_curve.h"
#include "posenc/shared_arguments.h"

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

Row sandwich_row() {
  return {.name = "sandwich",
          .classes = "T-b",
          .meaning = "a bias that is the product of two sinusoidal position vectors",
          .formula =
              "b = S(d) / h_j, S(d) = sum_i cos(d w_i) - bar_d/2, w_i = base^(-2i/bar_d), i from "
              "`first_index`",
          .source = "Chi et al. 2023, arXiv:2212.10356, equation (6)",
          .arguments = {bar_d_argument(), base_argument(), ratio_argument(), first_index_argument(),
                        bias_scale_argument()},
          .family = families::kCurves,
          .make = make<Sandwich>};
}

}  // namespace farfield::posenc
