#include "apps/hub/encoding_tables.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "apps/hub/encoding_config.h"
#include "engine/attention_rule.h"
#include "engine/autograd.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::hub {
namespace {

using posenc::Composition;
using posenc::Phase;

using TableList = std::vector<std::pair<const char*, Tensor>>;

// The defined tables of a layer.
TableList tables_of(const Composition::Layer& layer) {
  const auto& [rotation, rule] = layer;
  const TableList all = {{"cos", rotation.cos},
                         {"sin", rotation.sin},
                         {"scale_q", rotation.scale_q},
                         {"scale_k", rotation.scale_k},
                         {"far_cos_q", rotation.far.cos_q},
                         {"far_sin_q", rotation.far.sin_q},
                         {"far_cos_k", rotation.far.cos_k},
                         {"far_sin_k", rotation.far.sin_k},
                         {"bias", rule.bias},
                         {"weight", rule.weight},
                         {"row_scale", rule.row_scale},
                         {"ids", rule.ids},
                         {"far_ids_q", rule.far_ids_q},
                         {"far_ids_k", rule.far_ids_k},
                         {"feature", rule.row_bias.feature},
                         {"row_factor", rule.row_bias.row_factor},
                         {"knots", rule.row_bias.knots},
                         {"slope", rule.row_bias.slope},
                         {"offset", rule.row_bias.offset}};
  TableList defined;
  std::copy_if(all.begin(), all.end(), std::back_inserter(defined),
               [](const auto& table) { return table.second.defined(); });
  return defined;
}

const char* word_of(Normalizer::Kind kind) {
  switch (kind) {
    case Normalizer::Kind::softmax:
      return "softmax";
    case Normalizer::Kind::relu:
      return "relu";
    case Normalizer::Kind::relu_seqlen:
      return "relu_seqlen";
    case Normalizer::Kind::relu_plain:
      return "relu_plain";
    case Normalizer::Kind::clamp_absolute:
      return "clamp_absolute";
    case Normalizer::Kind::clamp_relative:
      return "clamp_relative";
    case Normalizer::Kind::linear:
      return "linear";
    case Normalizer::Kind::landmark:
      return "landmark";
  }
  return "";
}

// A rule without its tables.
RuleTables scalars_of(const Composition::Layer& layer) {
  const auto& [rotation, rule] = layer;
  return {.tables = {},
          .interleaved = rotation.interleaved,
          .window = rule.window,
          .sinks = rule.sinks,
          .switch_distance = rule.switch_distance,
          .switch_position = rule.switch_position,
          .normalizer = word_of(rule.normalizer.kind),
          .normalizer_parameter = rule.normalizer.parameter,
          .landmark_block = rule.normalizer.block};
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.raw_data(), b.raw_data(), static_cast<size_t>(a.size_bytes())) == 0;
}

// The name of a tensor among the others, which it joins unless one of them is the same.
std::string name_among(run::NamedTensors& all, const char* use, const Tensor& table) {
  const auto same = std::find_if(all.begin(), all.end(),
                                 [&](const auto& item) { return same_bits(item.second, table); });
  if (same != all.end()) return same->first;
  const std::string start = concat(use, '_');
  const auto n = std::count_if(all.begin(), all.end(), [&](const auto& item) {
    return item.first.starts_with(start) &&
           item.first.find_first_not_of("0123456789", start.size()) == std::string::npos;
  });
  all.emplace_back(concat(start, n), table);
  return all.back().first;
}

// Whether a table is the beginning of the one of a longer input, but for rounding.
bool begins(const Tensor& shorter, const Tensor& longer) {
  if (shorter.rank() != longer.rank()) return false;
  const std::vector<double> a = shorter.to_vector(), b = longer.to_vector();
  const bool is_row = shorter.rank() == 1;
  const int64_t rows = is_row ? 1 : shorter.dim(0), columns = shorter.dim(shorter.rank() - 1),
                width = longer.dim(longer.rank() - 1);
  if (columns > width || (!is_row && rows > longer.dim(0))) return false;
  constexpr double kRounding = 1e-5;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      const double x = a[static_cast<size_t>(r * columns + c)],
                   y = b[static_cast<size_t>(r * width + c)];
      if (x != y && !(std::abs(x - y) <= kRounding * (1 + std::abs(y)))) return false;
    }
  return true;
}

// A table that the shorter input lacks says nothing: a pair that reads it is not that far apart.
bool begins(const Composition::Layer& shorter, const Composition::Layer& longer) {
  if (scalars_of(shorter) != scalars_of(longer)) return false;
  const TableList all = tables_of(longer);
  for (const auto& [name, table] : tables_of(shorter)) {
    const std::string_view use = name;
    const auto same =
        std::find_if(all.begin(), all.end(), [&](const auto& other) { return use == other.first; });
    if (same == all.end() || !begins(table, same->second)) return false;
  }
  return true;
}

bool depends_on_length(const Composition& encoding, const Composition::Plan& plan, int64_t length) {
  // A step in the tables may fall between two of these lengths, but not between all.
  for (const int64_t other : {length / 2, length - 2, length - 1}) {
    if (other < 1) continue;
    const Composition::Plan shorter = encoding.plan(other, other, Phase::eval);
    if (shorter.embedding.defined() && !begins(shorter.embedding, plan.embedding)) return true;
    for (size_t i = 0; i < plan.layers.size(); ++i)
      if (!begins(shorter.layers[i], plan.layers[i])) return true;
  }
  return false;
}

}  // namespace

EncodingTables encoding_tables(const Composition& encoding, int64_t length) {
  const NoGrad no_grad;
  const Composition::Plan plan = encoding.plan(length, length, Phase::eval);
  EncodingTables made;
  made.length = length;
  made.token_scale = plan.token_scale;
  if (plan.embedding.defined())
    made.embedding = name_among(made.tensors, "embedding", plan.embedding);
  for (const Composition::Layer& layer : plan.layers) {
    RuleTables rule = scalars_of(layer);
    for (const auto& [use, table] : tables_of(layer))
      rule.tables[use] = name_among(made.tensors, use, table);
    const auto same = std::find(made.rules.begin(), made.rules.end(), rule);
    made.rule_of_layer.push_back(static_cast<size_t>(same - made.rules.begin()));
    if (same == made.rules.end()) made.rules.push_back(std::move(rule));
  }
  made.is_random = encoding.is_random(Phase::eval);
  made.depends_on_length = depends_on_length(encoding, plan, length);
  return made;
}

int64_t reachable_length(const Composition& encoding, int64_t least, int64_t most) {
  const NoGrad no_grad;
  const auto reaches = [&](int64_t length) {
    try {
      encoding.plan(length, length, Phase::eval);
      return true;
    } catch (const ConfigError&) {
      if (length == least) throw;
      return false;
    }
  };
  if (most > least && reaches(most)) return most;
  reaches(least);  // or throws
  if (most <= least) return least;
  int64_t low = least, high = most;  // reaches low, not high
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (reaches(middle) ? low : high) = middle;
  }
  return low;
}

Composition encoding_of(const ModelConfig& model, uint64_t seed) {
  posenc::Config config = encoding_config(model);
  config.seed = seed;
  return Composition(model.posenc, config);
}

}  // namespace farfield::hub
