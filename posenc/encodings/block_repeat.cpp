// Neighbours share a position: p[m] = floor(m / repeat).
// Kaiokendev 2023, "Extending Context is Hard ... but not Impossible".

#include <cmath>

#include "posenc/remap.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

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

Row block_repeat_row() {
  return {.name = "block_repeat",
          .classes = "P",
          .meaning = "neighbours share a position",
          .formula = "p[m] = floor(m/`repeat`); tables at p[m] - p[n]",
          .source = "Kaiokendev 2023",
          .arguments = {integer_argument("repeat", 4, "tokens that share a position")
                            .count()
                            .at_least(1)
                            .at_most(kMostTokens),
                        at_argument()},
          .compared_as = "rope + block_repeat(repeat=4, at=eval)",
          .trained_as = "rope",
          .make = make<BlockRepeat>};
}

}  // namespace farfield::posenc
