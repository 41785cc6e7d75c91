// Positions and distances divided by a number: an input that is longer looks as long as those seen
// in training.
// Chen et al. 2023, "Extending Context Window of Large Language Models via Positional
// Interpolation", arXiv:2306.15595, section 2.

#include "posenc/remap.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

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

Row interpolation_row() {
  return {.name = "interpolation",
          .synonyms = {"position_interpolation"},
          .classes = "P",
          .meaning = "positions and distances divided by a number",
          .formula = "p[m] = m/`scale`, distances d/`scale`; auto: max(1, L/L0)",
          .source = "Chen et al. 2023, arXiv:2306.15595, section 2",
          .arguments = {scale_or_auto_argument(), original_length_argument(), at_argument()},
          .compared_as = "rope + interpolation(scale=auto, at=eval)",
          .trained_as = "rope",
          .make = make<Interpolation>};
}

}  // namespace farfield::posenc
