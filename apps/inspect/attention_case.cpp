#include "apps/inspect/attention_case.h"

#include <algorithm>
#include <cmath>

#include "engine/autograd.h"
#include "engine/base/error.h"
#include "engine/base/random.h"
#include "engine/ops/attention.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/split_heads.h"
#include "engine/ops/view.h"
#include "engine/safetensors.h"

namespace farfield::inspect {
namespace {

constexpr std::string_view kWhere = "inspect";

// [H, T, K] as [1, T, H, 1, K], a part of what split_heads() takes apart.
Tensor as_part(const Tensor& x) {
  return reshape(permute(x, {1, 0, 2}), {1, x.dim(1), x.dim(0), 1, x.dim(2)});
}
// Part 0, 1 or 2 (q, k, v) of [1, T, 3 H K] as [H, T, K].
Tensor part_of(const Tensor& qkv, int64_t index, const AttentionCase& c) {
  const Tensor x = reshape(qkv, {c.length(), c.n_head(), 3, c.head_dim()});
  return permute(reshape(slice(x, 2, index, index + 1), {c.length(), c.n_head(), c.head_dim()}),
                 {1, 0, 2});
}

}  // namespace

AttentionCase random_case(int64_t n_head, int64_t length, int64_t head_dim, uint64_t seed) {
  const Shape shape{n_head, length, head_dim};
  const auto draw = [&](const char* name) {
    const Random random{seed, stream_of(concat("inspect.attention.", name))};
    std::vector<double> values(static_cast<size_t>(shape.numel()));
    for (size_t i = 0; i < values.size(); ++i) values[i] = random.normal(i);
    return Tensor::from(values, shape, DType::f64);
  };
  return {draw("q"), draw("k"), draw("v"), draw("dout")};
}

AttentionCase read_case(const std::filesystem::path& path) {
  const SafetensorsFile file = read_safetensors(path);
  const auto take = [&](const char* name) {
    const auto found = file.tensors.find(name);
    require<IoError>(found != file.tensors.end(), kWhere, path.string(), ": expected a tensor '",
                     name, "' [n_head, T, head_dim], got none of that name");
    const Tensor& x = found->second;
    require<IoError>(is_float(x.dtype()), kWhere, path.string(), ": '", name,
                     "': expected floating numbers, got ", x.dtype());
    require<IoError>(x.rank() == 3 && x.numel() > 0, kWhere, path.string(), ": '", name,
                     "': expected [n_head, T, head_dim], none of them 0, got ", x.shape());
    const std::vector<double> values = x.to_vector();
    require<IoError>(
        std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }),
        kWhere, path.string(), ": '", name, "': expected finite numbers, got some that are not");
    return Tensor::from(values, x.shape(), DType::f64);
  };
  const AttentionCase problem{take("q"), take("k"), take("v"), take("dout")};
  const auto check = [&](const char* name, const Tensor& x) {
    require<IoError>(x.shape() == problem.q.shape(), kWhere, path.string(), ": '", name,
                     "': expected the shape of 'q', ", problem.q.shape(), ", got ", x.shape());
  };
  check("k", problem.k);
  check("v", problem.v);
  check("dout", problem.dout);
  return problem;
}

run::NamedTensors solve(const AttentionCase& problem, const posenc::Composition& encoding,
                        int64_t layer, posenc::Phase phase, uint64_t draw) {
  const int64_t n = problem.length(), width = problem.n_head() * problem.head_dim();
  const auto plan = encoding.plan(n, n, phase, {1, draw});
  posenc::Composition::Layer made = plan.layers.at(static_cast<size_t>(layer));
  // Attention sees copies of the tables that are leaves, so that their own gradients are seen; the
  // parameters behind a table then get theirs from these.
  std::vector<Tensor> origins, leaves;
  for_each_table(made.rule, [&](Tensor& table) {
    if (!table.defined()) return;
    const Tensor origin = table;
    table = origin.clone();
    if (!origin.needs_grad()) return;
    table.set_requires_grad();
    origins.push_back(origin);
    leaves.push_back(table);
  });
  for (Tensor* table : {&made.rule.bias, &made.rule.weight})
    if (table->defined()) table->set_requires_grad();

  Tensor qkv = reshape(concat({as_part(problem.q), as_part(problem.k), as_part(problem.v)}, 3),
                       {1, n, 3 * width});
  qkv.set_requires_grad();
  const Heads heads = split_heads(qkv, problem.n_head(), made.rotation);
  const Tensor out = attention(heads.q, heads.k, heads.v, made.rule, heads.far);
  backward(out, reshape(permute(problem.dout, {1, 0, 2}), {1, n, width}));
  std::vector<Tensor> dorigins;
  for (const Tensor& leaf : leaves) dorigins.push_back(leaf.grad());
  if (!origins.empty()) backward(origins, dorigins);

  run::NamedTensors result;
  result.emplace_back(
      "out", permute(reshape(out.detach(), {n, problem.n_head(), problem.head_dim()}), {1, 0, 2}));
  result.emplace_back("dq", part_of(qkv.grad(), 0, problem));
  result.emplace_back("dk", part_of(qkv.grad(), 1, problem));
  result.emplace_back("dv", part_of(qkv.grad(), 2, problem));
  if (made.rule.bias.defined()) result.emplace_back("dbias", made.rule.bias.grad());
  if (made.rule.weight.defined()) result.emplace_back("dweight", made.rule.weight.grad());
  for (const Parameter& p : encoding.parameters()) {
    if (!p.value.requires_grad()) continue;
    const Tensor grad = p.value.grad();
    result.emplace_back("grad." + p.name, grad.defined() ? grad : zeros_like(p.value));
    p.value.set_grad({});
  }
  return result;
}

}  // namespace farfield::inspect
