// Llama 3's rope: long waves are divided by the scale, short ones stay, a blend between.
// Llama Team 2024, "The Llama 3 Herd of Models", arXiv:2407.21783; the blend follows the model's
// reference code (apply_scaling in meta-llama/llama-models).

#include <algorithm>
#include <numbers>

#include "posenc/rotary.h"
#include "posenc/row.h"

namespace farfield::posenc {
namespace {

// A wave that fits u = L0/wavelength times into the original length keeps the share
// s = clamp((u - low) / (high - low), 0, 1) of its frequency: s theta + (1 - s) theta/scale.
class RopeLlama3 final : public Encoding {
 public:
  RopeLlama3(const Arguments& a, const Config& c) : rotary_(a, c), inv_freq_(rotary_.inv_freq()) {
    const double low = a.number("low"), high = a.number("high"), scale = a.number("scale");
    a.require(low < high, "high", "expected more than low = ", to_text(low), ", got ",
              to_text(high));
    for (double& theta : inv_freq_) {
      const double turns = a.number("original_length") * theta / (2 * std::numbers::pi);
      const double kept = std::clamp((turns - low) / (high - low), 0.0, 1.0);
      theta = kept * theta + (1 - kept) * theta / scale;
    }
  }
  Rotation rotate(const Positions& p) const override { return rotary_.rotation(p, inv_freq_); }

 private:
  Rotary rotary_;
  std::vector<double> inv_freq_;
};

}  // namespace

Row rope_llama3_row() {
  return {
      .name = "rope_llama3",
      .synonyms = {"llama3"},
      .classes = "R",
      .meaning = "rope with its long waves divided by a number",
      .formula =
          "frequency theta becomes s theta + (1 - s) theta/`scale`, s = clamp((L0 theta/(2 pi) - "
          "low)/(high - low), 0, 1)",
      .source = "Llama Team 2024, arXiv:2407.21783",
      .arguments = rotary_arguments(
          {number_argument("scale", 8, "long waves become longer by it").at_least(1),
           number_argument("low", 1, "waves longer than original_length/low are divided").above(0),
           number_argument("high", 4, "waves shorter than original_length/high stay").above(0),
           original_length_argument()}),
      .compared_as = "rope_llama3(scale=16)",
      .trained_as = "rope",
      .make = make<RopeLlama3>};
}

}  // namespace farfield::posenc
