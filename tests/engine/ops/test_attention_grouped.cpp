// Grouped queries: several heads of queries take one head of keys and values.

#include <boost/test/unit_test.hpp>

#include "engine/autograd.h"
#include "engine/ops/attention.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/split_heads.h"
#include "engine/ops/view.h"
#include "tests/support/all_close.h"
#include "tests/support/grad_check.h"
#include "tests/support/grouped_attention.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_attention_grouped)  // ctest: sanitize arm64
namespace {

using test::grouped_rules;
using test::repeated;

BOOST_AUTO_TEST_CASE(heads_of_a_group_equal_heads_with_copied_keys) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16})
    for (const auto& [n_head, n_group] : {std::pair<int64_t, int64_t>{6, 2}, {4, 1}})
      for (const auto& [name, rule] : grouped_rules(n_head, 150, accumulate_dtype(dtype)))
        BOOST_TEST_CONTEXT(name << ' ' << dtype << ' ' << n_head << " heads, " << n_group)
  test::compare_with_copies({}, dtype,
                            {n_head, n_group, rule.row_scale.defined() ? 150 : 90, 150, 12}, rule);
}

BOOST_AUTO_TEST_CASE(gradients_agree_with_differences) {
  for (const auto& [name, rule] : grouped_rules(4, 5, DType::f64)) {
    BOOST_TEST_CONTEXT(name)
    BOOST_TEST(gradients_agree(
        [own = rule](const std::vector<Tensor>& in) { return attention(in[0], in[1], in[2], own); },
        {random_tensor({2, 4, 5, 3}, 1), random_tensor({2, 2, 5, 3}, 2),
         random_tensor({2, 2, 5, 3}, 3)}));
  }
}

BOOST_AUTO_TEST_CASE(far_copies_of_groups) {
  AttentionRule rule;
  rule.switch_distance = 4;
  const auto make = [](int64_t heads, uint64_t seed) {
    return random_tensor({1, heads, 11, 6}, seed);
  };
  const Tensor q = make(4, 1), k = make(2, 2), v = make(2, 3), far_q = make(4, 4),
               far_k = make(2, 5);
  BOOST_TEST(
      same_bits(attention(q, k, v, rule, {far_q, far_k}),
                attention(q, repeated(k, 4), repeated(v, 4), rule, {far_q, repeated(far_k, 4)})));
  BOOST_TEST(gradients_agree(
      [&](const std::vector<Tensor>& in) {
        return attention(in[0], in[1], in[2], rule, {in[3], in[4]});
      },
      {q, k, v, far_q, far_k}));
}

// Row (g (r + 2) + i) K + c of a projection is component c of query i of group g, i < r; of its
// key, i = r; of its value, i = r + 1.
BOOST_AUTO_TEST_CASE(a_projection_is_split_by_groups) {
  const int64_t n_head = 6, n_group = 2, head_dim = 4, n = 5;
  const HeadCounts counts(n_head, n_group);
  const Tensor qkv = random_tensor({2, n, counts.n_part() * head_dim}, 1);
  const Heads heads = split_heads(qkv, counts);
  const Tensor by_part =
      permute(reshape(qkv, {2, n, n_group, 5, head_dim}), {0, 2, 3, 1, 4});  // [B, G, 5, T, K]
  const auto parts = [&](int64_t begin, int64_t end) {
    return reshape(slice(by_part, 2, begin, end), {2, n_group * (end - begin), n, head_dim});
  };
  BOOST_TEST(same_bits(heads.q, parts(0, 3)));
  BOOST_TEST(same_bits(heads.k, parts(3, 4)));
  BOOST_TEST(same_bits(heads.v, parts(4, 5)));

  Rotation rotation;
  rotation.cos = random_tensor({n, 2}, 2);
  rotation.sin = random_tensor({n, 2}, 3);
  rotation.far = {random_tensor({n, 2}, 4), random_tensor({n, 2}, 5), random_tensor({n, 2}, 6),
                  random_tensor({n, 2}, 7)};
  // Rotated as a projection without groups that has the same heads.
  const Heads got = split_heads(qkv, counts, rotation);
  const Tensor apart =
      reshape(permute(concat({reshape(heads.q, {2, 1, n_head, n, head_dim}),
                              reshape(repeated(heads.k, n_head), {2, 1, n_head, n, head_dim}),
                              reshape(repeated(heads.v, n_head), {2, 1, n_head, n, head_dim})},
                             1),
                      {0, 3, 2, 1, 4}),
              {2, n, 3 * n_head * head_dim});
  const Heads want = split_heads(apart, n_head, rotation);
  BOOST_TEST(same_bits(got.q, want.q));
  BOOST_TEST(same_bits(repeated(got.k, n_head), want.k));
  BOOST_TEST(same_bits(got.far.q, want.far.q));
  BOOST_TEST(same_bits(repeated(got.far.k, n_head), want.far.k));
  BOOST_TEST(gradients_agree(
      [&](const std::vector<Tensor>& in) {
        const Heads h = split_heads(in[0], counts, rotation);
        return std::vector<Tensor>{h.q, h.k, h.v, h.far.q, h.far.k};
      },
      {qkv}));
}

BOOST_AUTO_TEST_CASE(errors_name_the_counts) {
  BOOST_CHECK_EXCEPTION(split_heads(Tensor::zeros({1, 2, 20}), {3, 2}), ShapeError,
                        says_exactly("[split_heads] expected a number of heads that the number of "
                                     "heads of keys divides, got 3 and 2"));
  BOOST_CHECK_EXCEPTION(split_heads(Tensor::zeros({1, 2, 20}), {4, 2}), ShapeError,
                        says_exactly("[split_heads] expected qkv [B, T, (H + 2 G) K] with H = 4, "
                                     "G = 2, got [1, 2, 20]"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
