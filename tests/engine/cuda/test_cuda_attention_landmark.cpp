// Attention with landmarks on the device against the reference in float64, and its rows against the
// CPU.

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "engine/kernels.h"
#include "engine/ops/view.h"
#include "tests/support/attention_problem.h"
#include "tests/support/both_devices.h"
#include "tests/support/messages.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_cuda_attention_landmark)  // ctest: gpu sanitize:slow
namespace {

const DType kFloats[] = {DType::f32, DType::bf16};

AttentionProblem problem(const Sizes& sizes, int64_t block, DType dtype) {
  AttentionProblem p = make_problem(sizes, dtype);
  p.rule.normalizer = {.kind = Normalizer::Kind::landmark, .block = block};
  return p;
}
void check(const AttentionProblem& p, const std::string& what) {
  compare_results(p, run_on(kCuda, p), what);
}

struct Case {
  const char* name;
  Sizes sizes;
  int64_t block;
  std::function<void(AttentionProblem&)> change;
};

void add_tables(AttentionProblem& p) {
  p.add_bias();
  p.add_weight();
  p.add_row_scale();
}
// Of each sequence its own; they wait, so that neighbours read one entry, and jump.
void add_ids(AttentionProblem& p) {
  std::vector<int32_t> ids;
  for (int32_t b = 0; b < p.heads.q.dim(0); ++b)
    for (int32_t n = 0; n < p.n_key(); ++n) ids.push_back(n / (2 + b) + (n > 20 ? 9 : 0));
  p.rule.ids = Tensor::from(ids, {p.heads.q.dim(0), p.n_key()});
  p.add_bias(60);
  p.add_weight(60);
}

const Case kCases[] = {
    {"one token", {1, 1, 1, 1, 8}, 1, [](auto&) {}},
    {"blocks of one token", {1, 1, 9, 9, 8}, 1, [](auto&) {}},
    {"nothing", {2, 2, 30, 47, 16}, 4, [](auto&) {}},
    {"bias", {2, 3, 40, 40, 8}, 6, [](auto& p) { p.add_bias(); }},
    {"weight", {1, 2, 40, 40, 8}, 6, [](auto& p) { p.add_weight(); }},
    {"tables", {2, 2, 33, 50, 5}, 9, add_tables},
    {"more blocks than thread blocks of a head", {1, 1, 70, 70, 8}, 2, add_tables},
    {"more keys of a block than threads", {1, 1, 20, 300, 8}, 140, add_tables},
    {"a block longer than the keys", {1, 2, 40, 40, 8}, int64_t{1} << 40, add_tables},
    {"decoding", {2, 2, 1, 57, 24}, 10, add_tables},
    {"decoding at a landmark", {1, 2, 1, 55, 24}, 10, add_tables},
    {"head_dim 1", {1, 1, 30, 30, 1}, 4, add_tables},
    {"head_dim 33", {1, 1, 30, 30, 33}, 4, add_tables},
    {"head_dim 100", {1, 1, 30, 30, 100}, 4, add_tables},
    {"head_dim 256", {1, 1, 20, 30, 256}, 4, add_tables},
    {"ids", {2, 2, 30, 41, 8}, 6, add_ids},
    {"hidden blocks",
     {1, 2, 40, 40, 8},
     3,
     [](auto& p) {
       hide_all_but(p, {0, 4, 9});
     }},
};

void check_all(double dropout) {
  for (const Case& c : kCases)
    for (const DType dtype : kFloats) {
      AttentionProblem p = problem(c.sizes, c.block, dtype);
      c.change(p);
      p.rule.dropout = {.p = dropout, .random = {3, 5}};
      check(p, concat(c.name, ' ', c.sizes, ", dropout ", dropout));
    }
}

BOOST_AUTO_TEST_CASE(every_feature_equals_the_reference) { check_all(0); }
BOOST_AUTO_TEST_CASE(every_feature_with_dropout_equals_the_reference) { check_all(0.5); }

BOOST_AUTO_TEST_CASE(rows_that_see_nothing_are_zero) {
  AttentionProblem p = problem({1, 1, 20, 20, 8}, 3, DType::f32);
  p.rule.bias = Tensor::full({1, 20}, -std::numeric_limits<double>::infinity(), DType::f32);
  for (const auto& [name, x] : run_on(kCuda, p))
    for (const double y : x.to_vector()) BOOST_TEST(y == 0, name);
}

BOOST_AUTO_TEST_CASE(what_is_kept_of_rows_equals_that_of_the_cpu) {
  AttentionProblem p = problem({1, 2, 30, 30, 8}, 4, DType::f32);
  hide_all_but(p, {3, 11});
  const auto lse_of = [](auto device, const AttentionProblem& at) {
    AttentionRows rows{Tensor::zeros({1, 2, 30}, DType::f32, at.heads.q.device()), {}, {}};
    Tensor out = Tensor::zeros({1, 30, 2, 8}, DType::f32, at.heads.q.device());
    landmark_attention_forward(device, at.heads, at.rule, out, rows);
    return rows.lse.to_vector();
  };
  const std::vector<double> want = lse_of(Cpu{}, p),
                            got = lse_of(cuda_tag(kCuda), moved_to(kCuda, p));
  for (size_t i = 0; i < want.size(); ++i)
    BOOST_TEST((got[i] == want[i] || std::abs(got[i] - want[i]) < 1e-5), i);
}

BOOST_AUTO_TEST_CASE(two_runs_give_the_same_bits) {
  for (const DType dtype : kFloats) {
    AttentionProblem p = problem({2, 2, 40, 40, 8}, 6, dtype);
    add_ids(p);
    const Named once = run_on(kCuda, p), again = run_on(kCuda, p);
    for (const auto& [name, x] : once) BOOST_TEST(same_bits(x, again.at(name)), name);
  }
}

BOOST_AUTO_TEST_CASE(gradients_that_nobody_wants_change_no_bit_of_the_others) {
  AttentionProblem p = problem({1, 2, 40, 40, 8}, 6, DType::f32);
  add_tables(p);
  const Named all = run_on(kCuda, p);
  for (const TableNames& tables : {TableNames(), TableNames{"bias"}, TableNames{"weight"}})
    for (const auto& [name, x] : run_on(kCuda, p, tables))
      BOOST_TEST(same_bits(x, all.at(name)), name);
}

// Nothing beside the tables is read or written.
BOOST_AUTO_TEST_CASE(an_entry_outside_of_the_tables_is_not_a_number) {
  AttentionProblem p = problem({1, 1, 20, 20, 8}, 4, DType::f32);
  std::vector<int32_t> ids(20);
  for (int32_t n = 0; n < 20; ++n) ids[static_cast<size_t>(n)] = n < 15 ? n : n + 100;
  p.rule.ids = Tensor::from(ids, {20});
  p.add_bias(20);
  p.rule.bias.set_requires_grad();
  AttentionProblem there = moved_to(kCuda, p);
  const std::vector<double> out = there().to_vector();
  BOOST_TEST(std::isfinite(out[14 * 8]));
  BOOST_TEST(std::isnan(out[15 * 8]));
  run_on(kCuda, p);
}

BOOST_AUTO_TEST_CASE(packed_heads_equal_those_that_were_split) {
  const Tensor qkv = normal({2, 19, 3 * 16}, 1, DType::bf16);
  const AttentionRule rule = problem({1, 1, 1, 1, 1}, 4, DType::bf16).rule;
  const Tensor got = attention(qkv.to(kCuda), 2, rule).to(Device{}), want = attention(qkv, 2, rule);
  BOOST_TEST(relative_error(got.to_vector(), want.to_vector()) < attention_tolerance(DType::bf16));
}

BOOST_AUTO_TEST_CASE(wide_heads_are_refused) {
  const AttentionProblem p = moved_to(kCuda, problem({1, 1, 2, 2, 257}, 4, DType::f32));
  BOOST_CHECK_EXCEPTION(
      p(), BackendError,
      says_exactly("[attention] expected a head_dim of at most 256 on a CUDA device, got 257; use "
                   "more heads, or the CPU"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
