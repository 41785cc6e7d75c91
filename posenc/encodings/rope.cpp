// Rotary position embedding: pairs of q and k components are turned by an angle that grows with the
// position, so a score depends on the distance alone.
// Su et al. 2021, "RoFormer", arXiv:2104.09864, section 3.2.2.

#include "posenc/rotary.h"
#include "posenc/row.h"

namespace farfield::posenc {
namespace {

class Rope final : public Encoding {
 public:
  Rope(const Arguments& a, const Config& c) : rotary_(a, c) {}
  Rotation rotate(const Positions& p) const override { return rotary_.rotation(p); }

 private:
  Rotary rotary_;
};

}  // namespace

Row rope_row() {
  return {.name = "rope",
          .synonyms = {"rotary", "roformer"},
          .classes = "R",
          .meaning = "pairs of q and k components turned by an angle that grows with the position",
          .formula = "pairs of q and k turned by m base^(-2i/r), r = floor(head_dim rotary_pct)",
          .source = "Su et al. 2021, arXiv:2104.09864, section 3.2.2",
          .arguments = rotary_arguments({}),
          .make = make<Rope>};
}

}  // namespace farfield::posenc
