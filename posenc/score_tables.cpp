#include "posenc/score_tables.h"

#include <algorithm>
#include <limits>

#include "engine/base/error.h"

namespace farfield::posenc {
namespace {

std::vector<double> values_of(const Tensor& x) {
  return x.defined() ? x.to_vector() : std::vector<double>();
}

// One query of the sequence that a rule was planned for.
struct Query {
  int64_t position;
  size_t index;  // in tables by query
};

// The entry of bias and weight that the query and the key d tokens before it read, for each d.
std::vector<size_t> entries(const AttentionRule& rule, const Query& query) {
  const std::vector<double> ids = values_of(rule.ids), far_q = values_of(rule.far_ids_q),
                            far_k = values_of(rule.far_ids_k);
  std::vector<size_t> entry;
  for (int64_t d = 0; d <= query.position; ++d) {
    const auto key = static_cast<size_t>(query.position - d);
    const bool is_far = rule.switch_distance > 0 && d >= rule.switch_distance &&
                        query.position >= rule.switch_position && !far_q.empty();
    const double at = is_far        ? far_q[query.index] - far_k[key]
                      : ids.empty() ? static_cast<double>(d)
                                    : ids[static_cast<size_t>(query.position)] - ids[key];
    entry.push_back(static_cast<size_t>(at));
  }
  return entry;
}

// f_h(feature[d] * row_factor) added to every row of bias [H, n].
void add_row_bias(const RowBias& row, const Query& query, std::vector<double>& bias) {
  const std::vector<double> feature = row.feature.to_vector(), knots = row.knots.to_vector(),
                            slope = row.slope.to_vector(), offset = row.offset.to_vector();
  const double factor = row.row_factor.to_vector()[query.index];
  const int64_t n = query.position + 1, n_piece = static_cast<int64_t>(knots.size()) + 1;
  for (size_t i = 0; i < bias.size(); ++i) {
    const auto head = static_cast<int64_t>(i) / n, d = static_cast<int64_t>(i) % n;
    const double x = feature[static_cast<size_t>(d)] * factor;
    const auto piece = std::upper_bound(knots.begin(), knots.end(), x) - knots.begin();
    const auto at = static_cast<size_t>(head * n_piece + piece);
    bias[i] += slope[at] * x + offset[at];
  }
}

}  // namespace

bool hides_by_table(const AttentionRule& rule) {
  const std::vector<double> bias = values_of(rule.bias);
  return std::find(bias.begin(), bias.end(), -std::numeric_limits<double>::infinity()) !=
         bias.end();
}

ScoreTables score_tables(const AttentionRule& rule, int64_t n_head, int64_t n_query, int64_t n_key,
                         int64_t position) {
  const int64_t n = position + 1;
  const Query query{position, static_cast<size_t>(position - (n_key - n_query))};
  ScoreTables tables{.n_head = n_head, .n_key = n};
  const std::vector<size_t> entry = entries(rule, query);
  const auto read = [&](const Tensor& table, double absent) {
    const std::vector<double> values = values_of(table);
    const size_t width = values.size() / static_cast<size_t>(n_head);
    std::vector<double> seen;
    for (size_t head = 0; head < static_cast<size_t>(n_head); ++head)
      for (const size_t at : entry)
        seen.push_back(values.empty() ? absent : values[head * width + at]);
    return seen;
  };
  tables.bias = read(rule.bias, 0);
  tables.weight = read(rule.weight, 1);
  if (rule.row_bias.feature.defined()) add_row_bias(rule.row_bias, query, tables.bias);
  tables.has_weight = rule.weight.defined();
  tables.has_bias = rule.bias.defined() || rule.row_bias.feature.defined() || rule.window > 0;
  for (int64_t d = 0; d < n; ++d) {
    if (rule.window == 0 || d < rule.window || position - d < rule.sinks) continue;
    for (int64_t head = 0; head < n_head; ++head)
      tables.bias[static_cast<size_t>(head * n + d)] = -std::numeric_limits<double>::infinity();
  }
  return tables;
}

std::vector<LayerTables> layer_tables(const Composition& encoding, int64_t n_key, SameTables same,
                                      uint64_t draw) {
  const Composition::Plan plan = encoding.plan(1, n_key, Phase::eval, {1, draw});
  std::vector<LayerTables> groups;
  for (size_t i = 0; i < plan.layers.size(); ++i) {
    const AttentionRule& rule = plan.layers[i].rule;
    LayerTables next{{static_cast<int64_t>(i)},
                     score_tables(rule, encoding.config().n_head, n_key),
                     rule.row_bias.feature.defined()};
    const auto equal = std::find_if(groups.begin(), groups.end(), [&](const LayerTables& group) {
      return group.tables.has_bias == next.tables.has_bias &&
             group.tables.bias == next.tables.bias &&
             (same == SameTables::bias || group.tables.weight == next.tables.weight);
    });
    if (equal == groups.end())
      groups.push_back(std::move(next));
    else
      equal->layers.push_back(static_cast<int64_t>(i));
  }
  return groups;
}

std::string text_of_layers(const std::vector<int64_t>& layers) {
  std::string text = layers.size() == 1 ? "layer " : "layers ";
  for (size_t i = 0; i < layers.size();) {
    size_t end = i + 1;
    while (end < layers.size() && layers[end] == layers[end - 1] + 1) ++end;
    text += concat(i > 0 ? ", " : "", layers[i]);
    if (end - i > 1) text += concat('-', layers[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace farfield::posenc
