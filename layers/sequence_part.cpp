#include "layers/sequence_part.h"

#include <algorithm>
#include <vector>

#include "engine/ops/view.h"

namespace farfield {
namespace {

// Elements [begin, end) of a dimension; no copy of all of them, and none of nothing.
Tensor cut(const Tensor& x, int dim, int64_t begin, int64_t end) {
  return !x.defined() || (begin == 0 && end == x.dim(dim)) ? x : slice(x, dim, begin, end);
}

// The keys of the part out of a tensor whose last dimension goes by position.
Tensor keys_of(const Tensor& x, const SequencePart& part) {
  if (!x.defined()) return x;
  const int dim = x.rank() - 1;
  if (part.n_sink == part.begin) return cut(x, dim, 0, part.end);
  const Tensor recent = cut(x, dim, part.begin, part.end);
  return part.n_sink == 0 ? recent : concat({cut(x, dim, 0, part.n_sink), recent}, dim);
}

Tensor positions_of_keys(const SequencePart& part, const Device& device) {
  std::vector<int32_t> positions;
  for (int64_t n = 0; n < part.n_sink; ++n) positions.push_back(static_cast<int32_t>(n));
  for (int64_t n = part.begin; n < part.end; ++n) positions.push_back(static_cast<int32_t>(n));
  return Tensor::from(positions, {part.n_key()}, device);
}

}  // namespace

AttentionRule part_of(const AttentionRule& whole, const SequencePart& part) {
  // The attention op counts positions from the first key it gets: positions of queries, and of keys
  // that are no sinks, fall by this number, and distances between them stay.
  const int64_t n_left_out = part.begin - part.n_sink;
  const bool sinks_move = part.n_sink > 0 && n_left_out > 0;
  AttentionRule rule = whole;
  rule.switch_position = std::max<int64_t>(0, rule.switch_position - n_left_out);
  for (Tensor* by_query : {&rule.row_scale, &rule.far_ids_q, &rule.row_bias.row_factor})
    *by_query = cut(*by_query, 0, part.first, part.end);
  rule.ids = keys_of(rule.ids, part);
  rule.far_ids_k = keys_of(rule.far_ids_k, part);

  require<ConfigError>(!sinks_move || !rule.row_bias.feature.defined(), "attention",
                       "expected no row-dependent bias beside sinks whose neighbours are left out");
  rule.row_bias.feature = cut(rule.row_bias.feature, 0, 0, part.n_key());
  const Tensor table = rule.bias.defined() ? rule.bias : rule.weight;
  if (!table.defined() || rule.ids.defined() || table.dim(1) == part.n_key()) return rule;
  if (sinks_move || rule.far_ids_q.defined()) {  // entries that are no distances, maybe beyond S
    rule.ids = positions_of_keys(part, table.device());
  } else {
    rule.bias = cut(rule.bias, 1, 0, part.n_key());
    rule.weight = cut(rule.weight, 1, 0, part.n_key());
  }
  return rule;
}

Tensor part_of(const Tensor& table, int64_t first, int64_t end) {
  return table.defined() ? cut(table, table.rank() - 2, first, end) : table;
}

Rotation part_of(const Rotation& rotation, int64_t first, int64_t end) {
  Rotation part = rotation;
  for_each_angle(part, [&](Tensor& table) { table = part_of(table, first, end); });
  return part;
}

}  // namespace farfield
