// xPos: rope whose pairs decay with the distance, the slow ones less.
// Sun et al. 2022, "A Length-Extrapolatable Transformer", arXiv:2212.10554; microsoft/
// torchscale, xpos_relative_position.py.

#include <algorithm>
#include <cmath>

#include "posenc/rotary.h"
#include "posenc/row.h"

namespace farfield::posenc {
namespace {

// q_m is multiplied by zeta_i^((m - c)/scale_base) and k_n by zeta_i^(-(n - c)/scale_base), so pair
// i of a score by zeta_i^((m - n)/scale_base); zeta_i = (2i/r + gamma) / (1 + gamma). The centre c
// cancels in exact arithmetic; it keeps both factors moderate.
class Xpos final : public Encoding {
 public:
  Xpos(const Arguments& a, const Config& c)
      : rotary_(a, c),
        scale_base_(a.number("scale_base")),
        has_centre_(a.word("centre").empty()),
        centre_(has_centre_ ? a.number("centre") : 0),
        text_("xpos" + a.canonical()) {
    const double gamma = a.number("gamma");
    for (int64_t i = 0; i < rotary_.dims() / 2; ++i) {
      const double share = 2.0 * static_cast<double>(i) / static_cast<double>(rotary_.dims());
      log_zeta_.push_back(std::log((share + gamma) / (1 + gamma)));
    }
  }

  Rotation rotate(const Positions& p) const override {
    const auto [first, last] = std::minmax_element(p.ids.begin(), p.ids.end());
    // ceil(L/2), as torchscale, when positions are 0 .. L - 1.
    const double centre = has_centre_ ? centre_ : std::ceil((*last + 1) / 2);
    const double reach = std::max(centre - *first, *last - centre) / scale_base_;
    const double log_factor = -log_zeta_[0] * reach;
    require<PositionError>(log_factor <= std::log(kMaxFactor), "posenc", "expected factors up to ",
                           kMaxFactor, " of ", text_, ", got e^", log_factor, " for ", p.n_key,
                           " tokens; float32 ends near 1e38, choose a larger scale_base");
    std::vector<double> scale_q, scale_k;
    for (const double id : p.query_ids())
      for (const double log_zeta : log_zeta_) {
        const double exponent = log_zeta * (id - centre) / scale_base_;
        scale_q.push_back(std::exp(exponent));
        scale_k.push_back(std::exp(-exponent));
      }
    Rotation rotation = rotary_.rotation(p);
    rotation.scale_q = p.query_table(scale_q, rotary_.dims() / 2);
    rotation.scale_k = p.query_table(scale_k, rotary_.dims() / 2);
    return rotation;
  }

 private:
  static constexpr double kMaxFactor = 1e30;  // leaves room for the components themselves

  Rotary rotary_;
  double scale_base_;  // tokens
  bool has_centre_;    // otherwise the middle of each call
  double centre_;
  std::string text_;
  std::vector<double> log_zeta_;  // [r/2], rising to nearly 0
};

}  // namespace

Row xpos_row() {
  return {
      .name = "xpos",
      .classes = "R",
      .meaning = "rope whose pairs decay with the distance, the slow ones less",
      .formula =
          "rope; pair i of q_m times zeta_i^((m - c)/`scale_base`), of k_n times zeta_i^(-(n - "
          "c)/`scale_base`), zeta_i = (2i/r + gamma)/(1 + gamma), c the `centre`, auto: ceil(L/2)",
      .source = "Sun et al. 2022, arXiv:2212.10554",
      .arguments = rotary_arguments(
          {number_argument("gamma", 0.4, "larger: all pairs decay less").above(0),
           number_argument("scale_base", 512, "tokens in which a pair decays by its factor")
               .tokens()
               .above(0),
           word_argument("centre", {"auto"},
                         "position where the factors are 1; auto: the middle of each call")
               .or_number()
               .tokens()},
          {"interleaved", "half"}),
      .make = make<Xpos>};
}

}  // namespace farfield::posenc
