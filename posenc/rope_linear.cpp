// Position interpolation: rope at positions divided by a number, so that a longer input has the
// angles of the training length. The same division, as a remap of the layer, reaches the distances
// of its tables and, on all layers, the input embedding.
// Chen et al. 2023, "Extending Context Window of Large Language Models via Positional
// Interpolation", arXiv:2306.15595, section 2.

#include "posenc/length_scale.h"
#include "posenc/registry.h"
#include "posenc/remap.h"
#include "posenc/rotary.h"

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

std::unique_ptr<Encoding> make_rope_linear(const Arguments& a, const Config& c) {
  return std::make_unique<RopeLinear>(a, c);
}

}  // namespace farfield::posenc
