// Position interpolation: rope at positions divided by a number, so that a longer input has the
// angles of the training length. The same division, as a remap of the layer, reaches the distances
// of its tables and, on all layers, the input embedding.
// Chen et al. 2023, "Extending Context Window of Large Language Models via Positional
// Interpolation", arXiv:2306.15595, section 2.

#include "posenc/remap.h"
#include "posenc/rotary.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

class RopeLinear final : public Encoding {
 public:
  RopeLinear(const Arguments& a, const Config& c) : rotary_(a, c), scale_(a) {}
  Positions positions(const Positions& p) const override { return divided(p, scale_(p)); }
  // p comes through positions(): its ids are divided already.
  Rotation rotate(const Positions& p) const override { return rotary_.rotation(p); }

 private:
  Rotary rotary_;
  LengthScale scale_;
};

}  // namespace

Row rope_linear_row() {
  return {
      .name = "rope_linear",
      .synonyms = {"linear_scaling"},
      .classes = "R, P",
      .meaning = "rope with positions and distances divided by a number (position interpolation)",
      .formula =
          "rope at m/`scale`; as a remap it divides the distances of its layer's tables too, and "
          "on all layers the positions of the input embedding; auto: max(1, L/L0)",
      .source = "Chen et al. 2023, arXiv:2306.15595, section 2",
      .arguments = rotary_arguments({scale_or_auto_argument(), original_length_argument()}),
      .compared_as = "rope_linear(scale=auto)",
      .trained_as = "rope",
      .make = make<RopeLinear>};
}

}  // namespace farfield::posenc
