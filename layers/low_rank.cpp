#include "layers/low_rank.h"

#include <algorithm>
#include <numeric>

#include "engine/autograd.h"
#include "engine/ops/group_sum.h"
#include "engine/ops/matmul.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/view.h"

namespace farfield {
namespace {

// A shard of the outputs of a layer as a shard of one of its parts, whose rows lie by groups too.
Shard shard_of_part(const Shard& shard, const LowRank& of, int64_t index) {
  if (shard.is_whole() || shard.dim != 0) return {};
  return {0, of.of_part(shard.begin, index), of.of_part(shard.end, index),
          of.of_part(shard.n_whole, index)};
}

// Magnitudes go by output, as rows of the weight do.
Shard of_rows(const Shard& shard) { return shard.dim == 0 ? shard : Shard{}; }

Shard of_inputs(const Shard& shard) { return shard.dim == 1 ? shard : Shard{}; }

bool has_part(const LowRank& of, int64_t index) {
  return std::any_of(of.parts.begin(), of.parts.end(),
                     [&](const LowRank::Part& part) { return part.index == index; });
}

Tensor updated(const LowRank& by, const Tensor& weight) {
  const bool has_some_outputs = !by.shard.is_whole() && by.shard.dim == 0;
  const Tensor down = has_some_outputs ? group_copy(by.down(), by.group) : by.down();
  return weight + matmul(by.up(), down) * by.scale;
}

// [out]: |row of the updated weight|, a constant.
Tensor row_lengths(const LowRank& by, const Tensor& weight) {
  const NoGrad no_grad;
  const Tensor squares = sum(square(updated(by, cast(weight, by.magnitude.dtype()))), 1);
  const bool has_some_inputs = !by.shard.is_whole() && by.shard.dim == 1;
  return sqrt(has_some_inputs ? group_sum(squares, by.group) : squares);
}

}  // namespace

LowRank LowRank::make(const Initializer& init, const std::string& layer, int64_t in, int64_t out,
                      const AdapterConfig& config, const std::vector<std::string>& names,
                      const std::vector<int64_t>& part_rows, const Shard& shard) {
  LowRank made;
  made.part_rows = part_rows;
  made.scale = config.scale();
  made.shard = shard;
  made.group = init.tensor;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!config.has_target(names[i])) continue;
    const std::string name = names.size() > 1 ? names[i] : "";
    const std::string of = concat(layer, ".lora_A", name.empty() ? "" : ".", name);
    made.parts.push_back(
        {.name = name,
         .index = static_cast<int64_t>(i),
         .down = init.uniform(of, {config.rank, in}, fan_in_bound(in), of_inputs(shard)),
         .up = init.constant({made.of_part(out, static_cast<int64_t>(i)), config.rank}, 0,
                             shard_of_part(shard, made, static_cast<int64_t>(i)))});
  }
  if (config.has_magnitudes && !made.is_empty())
    made.magnitude = init.constant({out}, 1, of_rows(shard));
  return made;
}

int64_t LowRank::rank() const {
  int64_t sum = 0;
  for (const Part& part : parts) sum += part.down.dim(0);
  return sum;
}

Tensor LowRank::down() const {
  if (parts.size() == 1) return parts.front().down;
  std::vector<Tensor> rows;
  for (const Part& part : parts) rows.push_back(part.down);
  return concat(rows, 0);
}

int64_t LowRank::group_rows() const {
  return std::accumulate(part_rows.begin(), part_rows.end(), int64_t{0});
}

int64_t LowRank::of_part(int64_t rows, int64_t index) const {
  return part_rows.empty() ? rows : rows / group_rows() * part_rows[static_cast<size_t>(index)];
}

Tensor LowRank::up() const {
  if (part_rows.empty()) return parts.front().up;
  const Part& any = parts.front();
  const int64_t total = rank(), n_group = any.up.dim(0) / part_rows[static_cast<size_t>(any.index)];
  // Row block `index` of every group, and in it the columns of the part.
  std::vector<Tensor> blocks;
  for (size_t i = 0; i < part_rows.size(); ++i) {
    const auto index = static_cast<int64_t>(i);
    const auto zeros = [&](int64_t n_column) {
      return Tensor::zeros({n_group, part_rows[i], n_column}, any.up.dtype(), any.up.device());
    };
    std::vector<Tensor> columns;
    for (const Part& part : parts)
      columns.push_back(part.index == index
                            ? reshape(part.up, {n_group, part_rows[i], part.up.dim(1)})
                            : zeros(part.up.dim(1)));
    blocks.push_back(has_part(*this, index) ? concat(columns, 2) : zeros(total));
  }
  return reshape(concat(blocks, 1), {n_group * group_rows(), total});
}

Tensor LowRank::operator()(const Tensor& x, const LayerDropout& drop,
                           std::string_view place) const {
  const bool by_columns = !shard.is_whole() && shard.dim == 1;
  const Columns columns =
      by_columns ? Columns{.begin = shard.begin, .n_whole = shard.n_whole} : Columns{};
  Tensor inner = linear(drop.masked(x, drop.adapter, place, columns), down());
  if (by_columns)
    inner = cast(group_sum(cast(inner, accumulate_dtype(x.dtype())), group), x.dtype());
  else if (!shard.is_whole())
    inner = group_copy(inner, group);
  return linear(inner * scale, up());
}

Tensor LowRank::row_factors(const Tensor& weight) const {
  Tensor m = magnitude;
  if (parts.size() < part_rows.size()) {
    // The magnitudes of parts without an adapter are constants.
    const int64_t n_row = group_rows();
    const Tensor by_group = reshape(magnitude, {magnitude.dim(0) / n_row, n_row});
    std::vector<Tensor> blocks;
    int64_t begin = 0;
    for (size_t i = 0; i < part_rows.size(); ++i) {
      const Tensor block = slice(by_group, 1, begin, begin + part_rows[i]);
      blocks.push_back(has_part(*this, static_cast<int64_t>(i)) ? block : block.detach());
      begin += part_rows[i];
    }
    m = reshape(concat(blocks, 1), magnitude.shape());
  }
  return m / row_lengths(*this, weight);
}

Tensor LowRank::adapted(const Tensor& weight) const {
  if (!magnitude.defined()) return updated(*this, weight);
  return updated(*this, weight) * reshape(row_factors(weight), {weight.dim(0), 1});
}

void LowRank::start_magnitudes(const Tensor& weight) {
  if (magnitude.defined()) magnitude.assign(row_lengths(*this, weight));
}

void LowRank::visit(const std::string& layer, const Visit& f) const {
  for (const Part& part : parts) {
    const std::string end = part.name.empty() ? "" : "." + part.name;
    f({.name = layer + ".lora_A" + end, .value = part.down, .shard = of_inputs(shard)});
    f({.name = layer + ".lora_B" + end,
       .value = part.up,
       .shard = shard_of_part(shard, *this, part.index)});
  }
  if (magnitude.defined())
    f({.name = layer + ".lora_magnitude_vector",
       .value = magnitude,
       .decay = false,
       .shard = of_rows(shard)});
}

}  // namespace farfield
