// A row bias alone has kernels of its own in bfloat16. With a table of zeros beside it the general
// ones take it, pair by pair: the same, to the rounding of P and dS to bfloat16.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "tests/support/attention_problem.h"
#include "tests/support/both_devices.h"
#include "tests/support/random_tensor.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_cuda_attention_row_bias)  // ctest: gpu sanitize:slow
namespace {

std::vector<double> knots_in_order(size_t n) {
  std::vector<double> knots;
  for (size_t i = 0; i < n; ++i)
    knots.push_back((static_cast<double>(i) + 0.4371) / static_cast<double>(n));
  return knots;
}

// Lines that do not meet at the knots: a pair in a segment beside its own is seen.
void add_lines(AttentionProblem& p, const std::vector<double>& knots) {
  add_row_bias(p, knots);
  p.rule.row_bias.offset = normal(p.rule.row_bias.offset.shape(), 21, p.acc());
}

// Features below and above 0, and factors that go up and down from query to query.
void bend(AttentionProblem& p) {
  RowBias& bias = p.rule.row_bias;
  std::vector<double> feature = bias.feature.to_vector(), factor = bias.row_factor.to_vector();
  for (double& x : feature) x -= 1.3;
  const Random random{5, 1};
  for (size_t i = 0; i < factor.size(); ++i) factor[i] *= 0.4 + random.uniform(i);
  bias.feature = Tensor::from(feature, bias.feature.shape(), p.acc());
  bias.row_factor = Tensor::from(factor, bias.row_factor.shape(), p.acc());
}

struct Case {
  const char* name;
  Sizes sizes;
  std::function<void(AttentionProblem&)> change;
};

const Case kCases[] = {
    {"one pair", {1, 1, 1, 1, 8}, [](auto& p) { add_lines(p, {0.5}); }},
    {"no knots", {1, 2, 70, 130, 8}, [](auto& p) { add_lines(p, {}); }},
    {"one knot", {2, 1, 150, 150, 16}, [](auto& p) { add_lines(p, {0.6}); }},
    {"knots", {2, 3, 131, 131, 8}, [](auto& p) { add_lines(p, kKnots); }},
    {"many knots", {1, 2, 200, 200, 24}, [](auto& p) { add_lines(p, knots_in_order(63)); }},
    {"knots beside all",
     {1, 1, 70, 70, 8},
     [](auto& p) {
       add_lines(p, {-2, -1, 3, 4});
     }},
    {"decoding", {2, 2, 1, 97, 24}, [](auto& p) { add_lines(p, kKnots); }},
    {"fewer queries", {1, 2, 70, 330, 8}, [](auto& p) { add_lines(p, kKnots); }},
    {"long", {1, 1, 700, 700, 8}, [](auto& p) { add_lines(p, kKnots); }},
    {"row scale", {1, 1, 99, 99, 8}, [](auto& p) { add_lines(p, kKnots), p.add_row_scale(); }},
    {"window", {1, 2, 210, 210, 8}, [](auto& p) { add_lines(p, kKnots), p.set_window(37, 0); }},
    {"sinks", {1, 1, 300, 300, 8}, [](auto& p) { add_lines(p, kKnots), p.set_window(50, 80); }},
    {"far away", {1, 1, 3, 300, 8}, [](auto& p) { add_lines(p, kKnots), p.set_window(20, 2); }},
    {"bent", {2, 2, 150, 211, 8}, [](auto& p) { add_lines(p, kKnots), bend(p); }},
    {"bent, many knots",
     {1, 1, 140, 140, 32},
     [](auto& p) { add_lines(p, knots_in_order(63)), bend(p), p.set_window(70, 3); }},
    {"head_dim 64", {2, 1, 170, 170, 64}, [](auto& p) { add_lines(p, kKnots), bend(p); }},
    {"head_dim 80", {1, 2, 66, 130, 80}, [](auto& p) { add_lines(p, kKnots), bend(p); }},
    {"head_dim 128", {1, 1, 66, 130, 128}, [](auto& p) { add_lines(p, knots_in_order(7)); }},
    {"head_dim 128, bent, window",
     {2, 1, 130, 130, 128},
     [](auto& p) { add_lines(p, kKnots), bend(p), p.set_window(40, 2); }},
    {"equal features",
     {1, 2, 150, 150, 8},
     [](auto& p) {
       add_lines(p, kKnots);
       std::vector<double> feature = p.rule.row_bias.feature.to_vector();
       for (size_t d = 0; d < feature.size(); ++d) feature[d] = feature[d / 20 * 20];
       p.rule.row_bias.feature = Tensor::from(feature, {150}, p.acc());
     }},
    {"head_dim 256, window",
     {1, 1, 100, 100, 256},
     [](auto& p) { add_lines(p, kKnots), p.set_window(37, 3); }},
    {"head_dim 256", {1, 2, 70, 100, 256}, [](auto& p) { add_lines(p, kKnots), bend(p); }},
};

BOOST_AUTO_TEST_CASE(its_kernels_equal_the_general_ones) {
  for (const Case& c : kCases) {
    AttentionProblem p = make_problem(c.sizes, DType::bf16);
    c.change(p);
    const Named got = run_on(kCuda, p);
    AttentionProblem beside = p;
    beside.rule.bias = Tensor::zeros({p.n_head(), p.n_key()}, DType::f32);
    const Named want = run_on(kCuda, beside);
    // Those for warpgroups round probabilities that are relative to another score.
    const bool by_warpgroups = c.sizes.head_dim == 64 || c.sizes.head_dim == 128;
    const double most = by_warpgroups ? 8e-3 : 2e-3;
    for (const auto& [name, x] : got) {
      const double e = relative_error(x.to_vector(), want.at(name).to_vector());
      BOOST_TEST(e < most, name << " is off by " << e << ": " << c.name << ", " << c.sizes);
    }
  }
}

BOOST_AUTO_TEST_CASE(two_runs_give_the_same_bits) {
  for (const int64_t head_dim : {8, 64, 256}) {
    AttentionProblem p = make_problem({3, 2, 200, 200, head_dim}, DType::bf16);
    add_row_bias(p, kKnots);
    const Named once = run_on(kCuda, p), again = run_on(kCuda, p);
    for (const auto& [name, x] : once) BOOST_TEST(same_bits(x, again.at(name)), name);
  }
}

BOOST_AUTO_TEST_CASE(gradients_that_nobody_wants_change_no_bit_of_the_others) {
  AttentionProblem p = make_problem({1, 2, 100, 100, 8}, DType::bf16);
  add_row_bias(p, kKnots);
  const Named all = run_on(kCuda, p);
  for (const TableNames& wanted : {TableNames{}, TableNames{"feature"}, TableNames{"slope"},
                                   TableNames{"offset"}, TableNames{"row_factor"}})
    for (const auto& [name, x] : run_on(kCuda, p, wanted))
      BOOST_TEST(same_bits(x, all.at(name)), name);
}

BOOST_AUTO_TEST_CASE(what_is_not_a_number_is_not_hidden) {
  for (int which = 0; which < 5; ++which) {
    AttentionProblem p = make_problem({1, 1, 100, 100, 8}, DType::bf16);
    add_row_bias(p, kKnots);
    RowBias& bias = p.rule.row_bias;
    Tensor& x = which == 0   ? bias.feature
                : which == 1 ? bias.row_factor
                : which == 2 ? bias.slope
                : which == 3 ? bias.offset
                             : p.heads.q;
    x = Tensor::full(x.shape(), std::numeric_limits<float>::quiet_NaN(), x.dtype());
    for (const auto& [name, got] : run_on(kCuda, p)) {
      const std::vector<double> values = got.to_vector();
      BOOST_TEST(std::any_of(values.begin(), values.end(), [](double y) { return std::isnan(y); }),
                 name << " with NaN in input " << which);
    }
  }
}

// Nor does it change what other queries get.
BOOST_AUTO_TEST_CASE(a_row_factor_that_is_not_a_number_stays_with_its_query) {
  AttentionProblem p = make_problem({1, 1, 100, 100, 8}, DType::bf16), whole;
  add_lines(p, kKnots);
  bend(p);
  whole = p;
  RowBias& bias = p.rule.row_bias;
  std::vector<double> factor = bias.row_factor.to_vector();
  factor[50] = std::numeric_limits<double>::quiet_NaN();
  bias.row_factor = Tensor::from(factor, {100}, p.acc());
  const Named got = run_on(kCuda, p), want = run_on(kCuda, whole);
  for (const char* name : {"out", "dq"}) {
    const std::vector<double> a = got.at(name).to_vector(), b = want.at(name).to_vector();
    for (size_t i = 0; i < a.size(); ++i)
      BOOST_TEST((i / 8 == 50 ? std::isnan(a[i]) : a[i] == b[i]), name << ' ' << i / 8);
  }
}

// Not by pair, nor by query and segment.
BOOST_AUTO_TEST_CASE(working_memory_does_not_grow_with_the_queries_times_the_segments) {
  int64_t extra[2] = {};
  for (const int i : {0, 1}) {
    AttentionProblem p = make_problem({1, 1, 512, 512, 8}, DType::bf16);
    add_row_bias(p, knots_in_order(i ? 200 : 1));
    p = moved_to(kCuda, p);
    run(p);
    reset_peak_memory(kCuda);
    const int64_t before = memory_stats(kCuda).current_bytes;
    run(p);
    extra[i] = memory_stats(kCuda).peak_bytes - before;
  }
  BOOST_TEST(extra[1] - extra[0] < 512 * 200 * 4);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
