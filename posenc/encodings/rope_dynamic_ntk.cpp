// Dynamic NTK rope: the base grows with the length of the input, beyond the original length.
// emozilla 2023, "Dynamically Scaled RoPE"; Peng et al. 2023, "YaRN", arXiv:2309.00071,
// section 3.3.

#include "posenc/rotary.h"
#include "posenc/row.h"

namespace farfield::posenc {
namespace {

// base' = base (f L/L0 - (f - 1))^(r/(r-2)) for L > L0. One base serves all positions of a call, so
// keys rotated in a shorter call do not fit: they would have to be kept unrotated.
class RopeDynamicNtk final : public Encoding {
 public:
  RopeDynamicNtk(const Arguments& a, const Config& c)
      : rotary_(a, c), factor_(a.number("factor")), original_length_(a.number("original_length")) {
    rotary_.require_ntk(a);
  }

  Rotation rotate(const Positions& p) const override {
    const double stretch = static_cast<double>(p.n_key) / original_length_;
    if (stretch <= 1) return rotary_.rotation(p);
    const double base = rotary_.ntk_base(factor_ * stretch - (factor_ - 1));
    return rotary_.rotation(p, geometric_frequencies(rotary_.dims(), base));
  }

 private:
  Rotary rotary_;
  double factor_;
  double original_length_;  // tokens
};

}  // namespace

Row rope_dynamic_ntk_row() {
  return {.name = "rope_dynamic_ntk",
          .synonyms = {"dynamic_ntk"},
          .classes = "R",
          .meaning = "rope whose base grows with the length of the input",
          .formula =
              "rope with base' = base (f L/L0 - (f - 1))^(r/(r-2)) for inputs of L > L0 = "
              "`original_length` tokens, f = `factor`",
          .source = "emozilla 2023; Peng et al. 2023, arXiv:2309.00071, section 3.3",
          .arguments =
              rotary_arguments({number_argument("factor", 1, "how fast the base grows").above(0),
                                original_length_argument()}),
          .trained_as = "rope",
          .make = make<RopeDynamicNtk>};
}

}  // namespace farfield::posenc
