// Positions and distances divided by a number: an input that is longer looks as long as those seen
// in training.
// Chen et al. 2023, "Extending Context Window of Large Language Models via Positional
// Interpolation", arXiv:2306.15595, section 2.

#include "posenc/active_at.h"
#include "posenc/length_scale.h"
#include "posenc/registry.h"
#include "posenc/remap.h"

namespace farfield::posenc {
namespace {

class Interpolation final : public Encoding {
 public:
  explicit Interpolation(const Arguments& a) : scale_(a), acts_(a) {}
  Positions positions(const Positions& p) const override {
    return acts_(p) ? divided(p, scale_(p)) : p;
  }

 private:
  LengthScale scale_;
  ActiveAt acts_;
};

}  // namespace

std::unique_ptr<Encoding> make_interpolation(const Arguments& a, const Config&) {
  return std::make_unique<Interpolation>(a);
}

}  // namespace farfield::posenc
