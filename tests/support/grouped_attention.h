#pragma once
// Grouped queries in tests: attention equals attention with keys that are copied.

#include <boost/test/unit_test.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/attention_rule.h"
#include "engine/autograd.h"
#include "engine/ops/attention.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/view.h"
#include "tests/support/all_close.h"
#include "tests/support/random_tensor.h"

namespace farfield::test {

/// Each head of x [B, G, S, K] n_head / G times: [B, n_head, S, K].
inline Tensor repeated(const Tensor& x, int64_t n_head) {
  const Shape& s = x.shape();
  const int64_t n = n_head / s[1];
  const Tensor ones = Tensor::full({n, 1, 1}, 1, x.dtype(), x.device());
  return reshape(reshape(x, {s[0], s[1], 1, s[2], s[3]}) * ones, {s[0], n_head, s[2], s[3]});
}

/// Rules of every normaliser for n_head heads and n queries and keys; tables in `dtype`. One with a
/// row scale needs as many queries as keys.
inline std::vector<std::pair<std::string, AttentionRule>> grouped_rules(int64_t n_head, int64_t n,
                                                                        DType dtype) {
  std::vector<std::pair<std::string, AttentionRule>> rules(1, {"softmax", {}});
  AttentionRule tables;
  tables.bias = random_tensor({n_head, n}, 11, -1, 1, dtype);
  tables.weight = random_tensor({n_head, n}, 12, 0.5, 1.5, dtype);
  tables.row_scale = random_tensor({n}, 13, 0.5, 1.5, dtype);
  rules.emplace_back("tables", tables);
  AttentionRule window;
  window.window = 3;
  window.sinks = 1;
  rules.emplace_back("window", window);
  for (const auto& [name, kind] :
       {std::pair<const char*, Normalizer::Kind>{"relu", Normalizer::Kind::relu_plain},
        {"clamp", Normalizer::Kind::clamp_relative},
        {"landmark", Normalizer::Kind::landmark}}) {
    AttentionRule rule;
    rule.normalizer.kind = kind;
    rule.normalizer.parameter = 1;
    if (kind == Normalizer::Kind::landmark) rule.normalizer.block = 3;
    rules.emplace_back(name, rule);
  }
  return rules;
}

/// Sizes of heads: q [2, n_head, n_query, head_dim], k and v [2, n_group, n_key, head_dim].
struct GroupSizes {
  int64_t n_head, n_group, n_query, n_key, head_dim;
};

/// Attention of grouped heads has the bits that attention of heads with copied keys has on that
/// device, and so have the gradients of queries and bias; gradients of keys and values are sums.
inline void compare_with_copies(const Device& device, DType dtype, const GroupSizes& s,
                                const AttentionRule& rule) {
  const auto make = [&](const Shape& shape, uint64_t seed) {
    return random_tensor(shape, seed, -1, 1, dtype).to(device);
  };
  AttentionRule there = rule;
  for_each_table(there, [&](Tensor& x) { x = x.defined() ? x.to(device) : x; });
  const Shape of_k{2, s.n_group, s.n_key, s.head_dim};
  const auto run = [&](bool copies) {
    std::vector<Tensor> in{make({2, s.n_head, s.n_query, s.head_dim}, 1), make(of_k, 2),
                           make(of_k, 3)};
    for (Tensor& x : in) x.set_requires_grad();
    AttentionRule own = there;
    if (own.bias.defined()) own.bias = own.bias.detach().set_requires_grad();
    const Tensor y =
        copies ? attention(in[0], repeated(in[1], s.n_head), repeated(in[2], s.n_head), own)
               : attention(in[0], in[1], in[2], own);
    backward(y, make(y.shape(), 9));
    std::vector<Tensor> out{y.detach(), in[0].grad()};
    if (own.bias.defined()) out.push_back(own.bias.grad());
    out.insert(out.end(), {in[1].grad(), in[2].grad()});
    for (Tensor& x : out) x = x.to(Device{});
    return out;
  };
  const std::vector<Tensor> got = run(false), want = run(true);
  for (size_t i = 0; i < want.size(); ++i) {
    if (i + 2 < want.size())
      BOOST_TEST(same_bits(got[i], want[i]));
    else
      BOOST_TEST(all_close(got[i], want[i], tolerance(dtype, Work::reduction)));
  }
}

}  // namespace farfield::test
