// Keys and values with room for more behind them, as a cache has them.

#include <boost/test/unit_test.hpp>

#include "engine/autograd.h"
#include "engine/ops/attention.h"
#include "engine/ops/view.h"
#include "tests/support/all_close.h"
#include "tests/support/grouped_attention.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_attention_room)  // ctest: sanitize
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// x [B, G, S, K] with 2 rows before and 5 behind those of each head, whose NaN would show.
Tensor in_room(const Tensor& x) {
  Tensor room = Tensor::full(x.shape().with(2, x.dim(2) + 7), kNan, x.dtype(), x.device());
  write_slice(room, 2, 2, x);
  return room;
}

Heads in_room(const Heads& heads) {
  Heads all = heads;
  for (Tensor* x : {&all.k, &all.v, &all.far.k})
    if (x->defined()) *x = in_room(*x);
  all.key_rows = {2, 2 + heads.k.dim(2)};
  return all;
}

Heads random_heads(int64_t n_head, int64_t n_group, int64_t n_query, int64_t n_key,
                   int64_t head_dim, DType dtype) {
  const auto make = [&](int64_t heads, int64_t n, uint64_t seed) {
    return random_tensor({2, heads, n, head_dim}, seed, -1, 1, dtype);
  };
  return {
      .q = make(n_head, n_query, 1), .k = make(n_group, n_key, 2), .v = make(n_group, n_key, 3)};
}

// The last `n` elements of a row scale.
AttentionRule of_last_queries(AttentionRule rule, int64_t n) {
  if (rule.row_scale.defined())
    rule.row_scale = slice(rule.row_scale, 0, rule.row_scale.dim(0) - n, rule.row_scale.dim(0));
  return rule;
}

// One query takes a path of its own on the CPU; several queries have the same bits as without room.
BOOST_AUTO_TEST_CASE(room_changes_nothing) {
  const NoGrad no_grad;
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16})
    for (const auto& [n_head, n_group] : {std::pair<int64_t, int64_t>{4, 4}, {6, 2}})
      for (const int64_t n_key : {1, 5, 16, 37, 150})
        for (const int64_t head_dim : {8, 12, 64, 80})
          for (const auto& [name, rule] :
               test::grouped_rules(n_head, n_key, accumulate_dtype(dtype)))
            for (const int64_t n_query : {int64_t{1}, std::min<int64_t>(3, n_key)})
              BOOST_TEST_CONTEXT(name << ' ' << dtype << ' ' << n_head << " heads, " << n_group
                                      << ", " << n_query << " of " << n_key << " by " << head_dim) {
                const Heads heads = random_heads(n_head, n_group, n_query, n_key, head_dim, dtype);
                const AttentionRule own = of_last_queries(rule, n_query);
                const Tensor want = attention(heads, own), got = attention(in_room(heads), own);
                if (n_query > 1)
                  BOOST_TEST(same_bits(got, want));
                else
                  BOOST_TEST(all_close(got, want, tolerance(dtype, Work::product)));
              }
}

BOOST_AUTO_TEST_CASE(other_rules_with_room) {
  const NoGrad no_grad;
  Heads heads = random_heads(4, 2, 1, 21, 16, DType::f64);
  AttentionRule linear, far, hidden, sinks;
  linear.normalizer.kind = Normalizer::Kind::linear;
  BOOST_TEST(same_bits(attention(in_room(heads), linear), attention(heads, linear)));
  hidden.bias = Tensor::full({4, 21}, -std::numeric_limits<double>::infinity(), DType::f64);
  const std::vector<double> nothing = attention(in_room(heads), hidden).to_vector();
  BOOST_TEST(nothing == std::vector<double>(nothing.size()));
  sinks.window = 18;  // the sinks and the window share a vector of keys
  sinks.sinks = 2;
  BOOST_TEST(all_close(attention(in_room(heads), sinks), attention(heads, sinks), 1e-13));
  heads.far = {random_tensor(heads.q.shape(), 4), random_tensor(heads.k.shape(), 5)};
  far.switch_distance = 6;
  BOOST_TEST(same_bits(attention(in_room(heads), far), attention(heads, far)));
}

BOOST_AUTO_TEST_CASE(room_is_for_keys_without_gradients) {
  const Heads heads = in_room(random_heads(2, 2, 1, 4, 8, DType::f32));
  BOOST_CHECK_EXCEPTION(attention(heads), ConfigError,
                        says_exactly("[attention] expected no gradients (NoGrad) of keys with room "
                                     "for more"));
  const NoGrad no_grad;
  Heads outside = heads;
  outside.key_rows = {2, 12};
  BOOST_CHECK_EXCEPTION(
      attention(outside), ShapeError,
      says_exactly("[attention] expected rows of keys among the 11 of k, got 2 to 12"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
