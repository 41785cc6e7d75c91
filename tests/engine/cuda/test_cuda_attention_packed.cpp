// Attention to heads where they lie in the output of a QKV projection, beside attention to copies
// of them: the same bits.

#include <boost/test/unit_test.hpp>
#include <functional>
#include <map>
#include <string>

#include "engine/autograd.h"
#include "engine/ops/split_heads.h"
#include "tests/support/attention_problem.h"
#include "tests/support/both_devices.h"
#include "tests/support/messages.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_cuda_attention_packed)  // ctest: gpu sanitize:slow
namespace {

struct Case {
  const char* name;
  Sizes sizes;  // keys as many as queries
  std::function<void(AttentionProblem&)> change;
};

void add_tables(AttentionProblem& p) {
  p.add_bias();
  p.add_weight();
  p.add_row_scale();
}
void drop(AttentionProblem& p) {
  p.rule.dropout = {.p = 0.25, .random = {5, 1}, .n_head = p.n_head()};
}
void add_ids(AttentionProblem& p) {
  std::vector<int32_t> ids;
  for (int64_t n = 0; n < p.n_key(); ++n) ids.push_back(static_cast<int32_t>(n / 2));
  p.rule.ids = Tensor::from(ids, {p.n_key()});
  p.add_bias();
  p.add_weight();
}

const Case kCases[] = {
    {"nothing", {1, 1, 1, 1, 8}, [](auto&) {}},
    {"nothing", {2, 3, 70, 70, 16}, [](auto&) {}},
    {"tables", {2, 2, 130, 130, 64}, add_tables},
    {"tables, unaligned", {2, 3, 70, 70, 5}, add_tables},
    {"window",
     {1, 2, 140, 140, 33},
     [](auto& p) { p.add_bias(), p.rule.window = 37, p.rule.sinks = 3; }},
    {"head_dim 80", {2, 2, 40, 40, 80}, [](auto& p) { p.add_bias(); }},
    {"head_dim 160", {1, 2, 40, 40, 160}, add_tables},
    {"ids", {2, 2, 60, 60, 8}, add_ids},
    {"dropout", {2, 2, 70, 70, 8}, drop},
    {"row bias", {2, 2, 50, 50, 8}, [](auto& p) { add_row_bias(p, kKnots); }},
    {"relu",
     {2, 2, 50, 50, 8},
     [](auto& p) {
       p.rule.normalizer = {Normalizer::Kind::relu, 1, 2};
     }},
};

// The output and all gradients of what f makes of qkv and a rule.
std::map<std::string, Tensor> results(
    const Tensor& qkv_values, AttentionRule rule, const Tensor& dout,
    const std::function<Tensor(const Tensor&, const AttentionRule&)>& f) {
  Tensor qkv = qkv_values.clone();
  qkv.set_requires_grad(true);
  std::map<std::string, Tensor> leaves{{"dqkv", qkv}};
  for (auto [name, table] :
       {std::pair("dbias", &rule.bias), std::pair("dweight", &rule.weight),
        std::pair("dslope", &rule.row_bias.slope), std::pair("dfeature", &rule.row_bias.feature)})
    if (table->defined()) {
      *table = table->clone().set_requires_grad(true);
      leaves[name] = *table;
    }
  const Tensor out = f(qkv, rule);
  backward(out, dout);
  std::map<std::string, Tensor> found{{"out", out.detach()}};
  for (const auto& [name, leaf] : leaves) found[name] = leaf.grad();
  return found;
}

BOOST_AUTO_TEST_CASE(heads_where_they_lie_give_the_bits_of_copies) {
  for (const Device& device : {Device{}, kCuda})
    for (const DType dtype : {DType::f32, DType::bf16})
      for (const Case& c : kCases) {
        AttentionProblem p = make_problem(c.sizes, dtype);
        c.change(p);
        p = moved_to(device, p);
        const Sizes& s = c.sizes;
        const Tensor qkv =
            normal({s.batch, s.queries, 3 * s.heads * s.head_dim}, 12, dtype).to(device);
        const auto packed =
            results(qkv, p.rule, p.dout, [&](const Tensor& x, const AttentionRule& rule) {
              return attention(x, s.heads, rule);
            });
        const auto copied =
            results(qkv, p.rule, p.dout, [&](const Tensor& x, const AttentionRule& rule) {
              const Heads heads = split_heads(x, s.heads);
              return attention(heads.q, heads.k, heads.v, rule);
            });
        for (const auto& [name, x] : copied)
          BOOST_TEST(same_bits(packed.at(name).to(Device{}), x.to(Device{})),
                     name << " of " << c.name << ' ' << s << ' ' << dtype << " on " << device);
      }
}

BOOST_AUTO_TEST_CASE(what_is_no_projection_is_refused) {
  const auto refuses = [](const Shape& shape, int64_t n_head, const char* what) {
    BOOST_CHECK_EXCEPTION(attention(Tensor::zeros(shape, DType::f32, kCuda), n_head), ShapeError,
                          says("[attention] expected ", what));
  };
  refuses({2, 3, 20}, 2, "qkv [B, T, 3 H K] with H = 2, got [2, 3, 20]");
  refuses({2, 24}, 2, "qkv [B, T, 3 H K] with H = 2, got [2, 24]");
  refuses({2, 0, 24}, 2, "qkv of shape [B, T, 3 H K], none of them 0, got [2, 0, 24]");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
