// Sandwich: the part of the product of two sinusoidal position vectors that depends on the
// distance, as a bias. Chi, Fan, Rudnicky and Ramadge 2023, "Dissecting Transformer Length
// Extrapolation via the Lens of Receptive Field Analysis", arXiv:2212.10356, equation (6).

#include <cmath>
#include <vector>

#include "engine/ops.h"
#include "posenc/registry.h"

namespace farfield::posenc {
namespace {

class Sandwich final : public Encoding {
 public:
  Sandwich(const Arguments& a, const Config& c) {
    const int64_t bar_d = a.integer("bar_d");
    a.require(bar_d % 2 == 0, "bar_d", "expected an even number, got ", bar_d);
    for (int64_t i = 0; i < bar_d / 2; ++i)
      frequency_.push_back(std::pow(
          a.number("base"),
          -2.0 * static_cast<double>(i + a.integer("first_index")) / static_cast<double>(bar_d)));
    std::vector<double> ratio;  // h_j = 8 j / n_head, j from 1: the first head decays fastest
    for (int64_t j = 1; j <= c.n_head; ++j)
      ratio.push_back(8.0 * static_cast<double>(j) / static_cast<double>(c.n_head));
    if (a.has("h")) ratio = a.per_head("h");
    ratio_ = Tensor::from(ratio, {c.n_head, 1}, DType::f64, c.device);
  }

  // b_j(d) = (sum_i cos(d w_i) - bar_d / 2) / h_j. The shift makes b(0) = 0: softmax does not see
  // it, rounded logits do.
  ScoreRule score(const Positions& p) const override {
    std::vector<double> sum;
    for (const double d : p.distance) {
      double total = 0;
      for (const double w : frequency_) total += std::cos(d * w) - 1;
      sum.push_back(total);
    }
    const Tensor table =
        Tensor::from(sum, {1, static_cast<int64_t>(sum.size())}, DType::f64, p.device);
    return {.bias = table / ratio_};  // [1, S] / [H, 1] -> [H, S]
  }

 private:
  std::vector<double> frequency_;  // radians per token
  Tensor ratio_;                   // [H, 1]
};

}  // namespace

std::unique_ptr<Encoding> make_sandwich(const Arguments& a, const Config& c) {
  return std::make_unique<Sandwich>(a, c);
}

}  // namespace farfield::posenc
