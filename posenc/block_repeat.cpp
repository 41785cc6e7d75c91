// Neighbours share a position: p[m] = floor(m / repeat).
// Kaiokendev 2023, "Extending Context is Hard ... but not Impossible".

#include <cmath>

#include "posenc/active_at.h"
#include "posenc/registry.h"
#include "posenc/remap.h"

namespace farfield::posenc {
namespace {

class BlockRepeat final : public Encoding {
 public:
  explicit BlockRepeat(const Arguments& a) : repeat_(a.number("repeat")), acts_(a) {}

  Positions positions(const Positions& plain) const override {
    if (!acts_(plain)) return plain;
    Positions p = plain;
    for (double& id : p.ids) id = std::floor(id / repeat_);
    return looked_up_by_ids(std::move(p), "block_repeat");
  }

 private:
  double repeat_;  // tokens
  ActiveAt acts_;
};

}  // namespace

std::unique_ptr<Encoding> make_block_repeat(const Arguments& a, const Config&) {
  return std::make_unique<BlockRepeat>(a);
}

}  // namespace farfield::posenc
