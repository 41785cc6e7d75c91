// Rotary position embedding: pairs of q and k components are turned by an angle that grows with the
// position, so a score depends on the distance alone.
// Su et al. 2021, "RoFormer", arXiv:2104.09864, section 3.2.2.

#include "posenc/registry.h"
#include "posenc/rotary.h"

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

std::unique_ptr<Encoding> make_rope(const Arguments& a, const Config& c) {
  return std::make_unique<Rope>(a, c);
}

}  // namespace farfield::posenc
