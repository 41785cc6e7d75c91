// NTK-aware rope: a larger base slows the low frequencies by `scale` and leaves the high ones.
// bloc97 2023, "NTK-Aware Scaled RoPE"; Peng et al. 2023, "YaRN", arXiv:2309.00071, section 3.1.

#include "posenc/ntk_base.h"
#include "posenc/registry.h"

namespace farfield::posenc {
namespace {

// base' = base scale^(r/(r-2)): the fastest frequency stays 1, the slowest is divided by scale.
class RopeNtk final : public Encoding {
 public:
  RopeNtk(const Arguments& a, const Config& c)
      : rotary_(a, c),
        inv_freq_(geometric_frequencies(rotary_.dims(), NtkBase(a, rotary_)(a.number("scale")))) {}
  Rotation rotate(const Positions& p) const override { return rotary_.rotation(p, inv_freq_); }

 private:
  Rotary rotary_;
  std::vector<double> inv_freq_;
};

}  // namespace

std::unique_ptr<Encoding> make_rope_ntk(const Arguments& a, const Config& c) {
  return std::make_unique<RopeNtk>(a, c);
}

}  // namespace farfield::posenc
