// Smoothed Sandwich: a logarithm fitted to the curve of sandwich, which is kerple_log with r2 = 1.
// Chi, Fan, Rudnicky and Ramadge 2023, "Dissecting Transformer Length Extrapolation via the Lens of
// Receptive Field Analysis", arXiv:2212.10356, section 6.2.

#include <cmath>

#include "engine/ops.h"
#include "posenc/row.h"
#include "posenc/sandwich_curve.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

// The slope a of S(d) = -a ln(1 + d) + c over the 50 nearest distances, by ordinary least squares;
// c is dropped, since softmax does not see it. By the paper's footnote 7 this was trained.
double fitted(const SandwichCurve& curve) {
  constexpr int kPoints = 50;
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
  for (int d = 0; d < kPoints; ++d) {
    mean_x += std::log1p(d) / kPoints;
    mean_y += curve(d) / kPoints;
  }
  for (int d = 0; d < kPoints; ++d) {
    const double x = std::log1p(d) - mean_x;
    xx += x * x;
    xy += x * (curve(d) - mean_y);
  }
  return -xy / xx;
}

// a for a compression ratio of 1, one per head.
std::vector<double> coefficients(const Arguments& a, const Config& c, const SandwichCurve& curve) {
  const std::string fit = a.word("fit");
  if (fit.empty()) return a.per_head("fit");
  double coefficient = 0;
  if (fit == "published") {
    // The curve printed under figure 9, 0.825 ln(1 + d) at ratio 8, belongs to one setting.
    a.require(
        a.integer("bar_d") == 128 && a.number("base") == 10000 && a.integer("first_index") == 0,
        "fit",
        "expected bar_d 128, base 10000 and first_index 0 with the published curve; write "
        "fit=recent50 for others");
    coefficient = 6.6;
  } else {
    coefficient = fitted(curve);
  }
  return std::vector<double>(static_cast<size_t>(c.n_head), coefficient);
}

class SandwichSmoothed final : public Encoding {
 public:
  SandwichSmoothed(const Arguments& a, const Config& c)
      : slope_(Tensor::from(coefficients(a, c, SandwichCurve(a)), {c.n_head, 1}, DType::f64,
                            c.device) /
               read_ratios(a, c)) {}
  ScoreRule score(const Positions& p) const override {  // b_h(d) = -(a / h_h) ln(1 + d)
    return {.bias = -slope_ * log1p(p.distances())};    // [H, 1], [S] -> [H, S]
  }

 private:
  Tensor slope_;  // [H, 1], a / h
};

}  // namespace

Row sandwich_smoothed_row() {
  return {.name = "sandwich_smoothed",
          .classes = "T-b",
          .meaning = "the logarithm that is nearest to sandwich",
          .formula =
              "b = -(a / h_j) ln(1 + d); `recent50`: a fitted to S(d), d < 50, by least squares; "
              "`published`: 6.6; or `fit` itself",
          .source = "Chi et al. 2023, arXiv:2212.10356, section 6.2",
          .arguments = {bar_d_argument(), base_argument(), ratio_argument(), first_index_argument(),
                        per_head_argument(
                            "fit", "recent50",
                            "what the logarithm is fitted to, or its factor at compression ratio 1")
                            .or_words({"recent50", "published"})
                            .above(0),
                        bias_scale_argument()},
          .family = families::kCurves,
          .make = make<SandwichSmoothed>};
}

}  // namespace farfield::posenc
