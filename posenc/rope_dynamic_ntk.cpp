// Dynamic NTK rope: the base grows with the length of the input, beyond the original length.
// emozilla 2023, "Dynamically Scaled RoPE"; Peng et al. 2023, "YaRN", arXiv:2309.00071,
// section 3.3.

#include "posenc/ntk_base.h"
#include "posenc/registry.h"

namespace farfield::posenc {
namespace {

// base' = base (f L/L0 - (f - 1))^(r/(r-2)) for L > L0. One base serves all positions of a call, so
// keys rotated in a shorter call do not fit: they would have to be kept unrotated.
class RopeDynamicNtk final : public Encoding {
 public:
  RopeDynamicNtk(const Arguments& a, const Config& c)
      : rotary_(a, c),
        base_(a, rotary_),
        factor_(a.number("factor")),
        original_length_(a.number("original_length")) {}

  Rotation rotate(const Positions& p) const override {
    const double stretch = static_cast<double>(p.n_key) / original_length_;
    if (stretch <= 1) return rotary_.rotation(p);
    const double base = base_(factor_ * stretch - (factor_ - 1));
    return rotary_.rotation(p, geometric_frequencies(rotary_.dims(), base));
  }

 private:
  Rotary rotary_;
  NtkBase base_;
  double factor_;
  double original_length_;  // tokens
};

}  // namespace

std::unique_ptr<Encoding> make_rope_dynamic_ntk(const Arguments& a, const Config& c) {
  return std::make_unique<RopeDynamicNtk>(a, c);
}

}  // namespace farfield::posenc
