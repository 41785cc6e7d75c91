// NTK-aware rope: a larger base slows the low frequencies by `scale` and leaves the high ones.
// bloc97 2023, "NTK-Aware Scaled RoPE"; Peng et al. 2023, "YaRN", arXiv:2309.00071, section 3.1.

#include "posenc/rotary.h"
#include "posenc/row.h"

namespace farfield::posenc {
namespace {

// base' = base scale^(r/(r-2)): the fastest frequency stays 1, the slowest is divided by scale.
class RopeNtk final : public Encoding {
 public:
  RopeNtk(const Arguments& a, const Config& c)
      : rotary_(a, c),
        inv_freq_(geometric_frequencies(rotary_.dims(), rotary_.ntk_base(a.number("scale")))) {
    rotary_.require_ntk(a);
  }
  Rotation rotate(const Positions& p) const override { return rotary_.rotation(p, inv_freq_); }

 private:
  Rotary rotary_;
  std::vector<double> inv_freq_;
};

}  // namespace

Row rope_ntk_row() {
  return {.name = "rope_ntk",
          .synonyms = {"ntk", "ntk_aware"},
          .classes = "R",
          .meaning = "rope with a larger base: slow frequencies are divided, fast ones stay",
          .formula =
              "rope with base' = base `scale`^(r/(r-2)): the slowest frequency is divided by "
              "`scale`, the fastest stays",
          .source = "bloc97 2023; Peng et al. 2023, arXiv:2309.00071, section 3.1",
          .arguments = rotary_arguments(
              {required_number("scale", "the slowest frequency is divided by it").at_least(1)}),
          .compared_as = "rope_ntk(scale=16)",
          .trained_as = "rope",
          .make = make<RopeNtk>};
}

}  // namespace farfield::posenc
