#include "layers/own_heads.h"

#include <map>
#include <utility>

#include "engine/ops/group_sum.h"
#include "engine/ops/view.h"

namespace farfield {

comm::Range own_heads(int64_t n_head, const Group& group) {
  const int64_t n = n_head / group.size();
  return {n * group.rank(), n * (group.rank() + 1)};
}

void keep_own_heads(posenc::Composition::Plan& plan, int64_t n_head, const Group& group) {
  if (group.is_alone()) return;
  const comm::Range heads = own_heads(n_head, group);
  // Layers share tables; a tensor made from a shared table is shared too, so that its gradient is
  // summed once.
  std::map<std::pair<const void*, const Node*>, Tensor> made;
  const auto keep = [&](Tensor& table, bool is_by_head) {
    if (!table.defined()) return;
    Tensor& own = made[{table.raw_data(), table.node().get()}];
    if (!own.defined()) {
      own = group_copy(table, group);
      if (is_by_head) own = slice(own, 0, heads.begin, heads.end);
    }
    table = own;
  };
  for (auto& [rotation, rule] : plan.layers) {
    for (Tensor* table : {&rule.bias, &rule.weight, &rule.row_bias.slope, &rule.row_bias.offset})
      keep(*table, /*is_by_head=*/true);
    for (Tensor* table :
         {&rule.row_scale, &rule.row_bias.feature, &rule.row_bias.row_factor, &rule.row_bias.knots})
      keep(*table, /*is_by_head=*/false);
    // The penalty is a mean over the rows of all heads.
    rule.normalizer.penalty *= static_cast<double>(heads.size()) / static_cast<double>(n_head);
  }
}

}  // namespace farfield
