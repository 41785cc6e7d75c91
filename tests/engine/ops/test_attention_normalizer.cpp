// Attention with other normalisers than softmax.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/attention_problem.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_attention_normalizer)  // ctest: on_cuda:slow
namespace {

using test::AttentionProblem;
using test::run;
using test::Sizes;
using Kind = Normalizer::Kind;

const DType kFloats[] = {DType::f64, DType::f32, DType::bf16};

struct Case {
  const char* name;
  Normalizer normalizer;
};
const Case kCases[] = {{"relu", {Kind::relu, 1}},
                       {"relu 0.3", {Kind::relu, 0.3}},
                       {"relu with a penalty", {Kind::relu, 1, 2.5}},
                       {"seqlen", {Kind::relu_seqlen, 1}},
                       {"seqlen with a penalty", {Kind::relu_seqlen, 1, 40}},
                       {"plain relu", {Kind::relu_plain}},
                       {"plain relu with a penalty", {Kind::relu_plain, 1, 0.1}},
                       {"linear", {Kind::linear}},
                       {"from 0.2 on", {Kind::clamp_absolute, 0.2}},
                       {"from -0.7 on", {Kind::clamp_absolute, -0.7}},
                       {"the largest alone", {Kind::clamp_absolute, 1e6}},
                       {"0.8 below the largest", {Kind::clamp_relative, 0.8}},
                       {"the largest by 0", {Kind::clamp_relative, 0}}};

AttentionRule with(const Normalizer& normalizer) {
  AttentionRule rule;
  rule.normalizer = normalizer;
  return rule;
}
Tensor column(std::initializer_list<double> x) {
  return Tensor::from(x, {1, 1, static_cast<int64_t>(x.size()), 1}, DType::f64);
}
// The last query, 1, over keys that are the scores, and values.
double last_output(std::initializer_list<double> scores, std::initializer_list<double> values,
                   const AttentionRule& rule) {
  return attention(column({1}), column(scores), column(values), rule).item();
}
bool is_near(double got, double want) { return std::abs(got - want) < 1e-13; }

BOOST_AUTO_TEST_CASE(relu_by_hand) {
  // (2 * 10 + 0 + 3 * 1) / (gamma sqrt(3/2)), or / 3
  const auto out = [](const Normalizer& n, int64_t window = 0, int64_t sinks = 0) {
    AttentionRule rule = with(n);
    rule.window = window;
    rule.sinks = sinks;
    return last_output({2, -5, 3}, {10, 100, 1}, rule);
  };
  BOOST_TEST(is_near(out({Kind::relu, 1}), 23 / std::sqrt(1.5)));
  BOOST_TEST(is_near(out({Kind::relu, 2}), 23 / std::sqrt(6)));
  BOOST_TEST(is_near(out({Kind::relu_seqlen}), 23. / 3));
  BOOST_TEST(is_near(out({Kind::relu, 1}, 2), 3.));  // two keys: sqrt(2/2)
  BOOST_TEST(is_near(out({Kind::relu_seqlen}, 2), 3. / 2));
  BOOST_TEST(is_near(out({Kind::relu_seqlen}, 1, 1), 23. / 2));
  BOOST_TEST(is_near(out({Kind::relu_plain}), 23.));
  BOOST_TEST(is_near(out({Kind::relu_plain}, 2), 3.));
}

BOOST_AUTO_TEST_CASE(linear_attention_by_hand) {
  // phi(1) = 2, phi of the keys 3, e^-5 and 4
  const double few = std::exp(-5);
  const auto out = [](int64_t window) {
    AttentionRule rule = with({Kind::linear});
    rule.window = window;
    return last_output({2, -5, 3}, {10, 100, 1}, rule);
  };
  BOOST_TEST(is_near(out(0), (3 * 10 + few * 100 + 4) / (3 + few + 4)));
  BOOST_TEST(is_near(out(2), (few * 100 + 4) / (few + 4)));
  BOOST_TEST(is_near(out(1), 1.));
}

// The recurrence of the paper: one state of sums, however many keys there are.
BOOST_AUTO_TEST_CASE(linear_attention_is_a_recurrence) {
  const int64_t n = 150, width = 5;
  const AttentionProblem p = [&] {
    AttentionProblem made = test::make_problem({1, 1, n, n, width}, DType::f64);
    made.rule.normalizer = {Kind::linear};
    return made;
  }();
  const auto features = [](const Tensor& x) {
    std::vector<double> all = x.to_vector();
    for (double& y : all) y = y > 0 ? y + 1 : std::exp(y);
    return all;
  };
  const std::vector<double> q = features(p.heads.q), k = features(p.heads.k),
                            v = p.heads.v.to_vector(), out = p().to_vector();
  std::vector<double> state(static_cast<size_t>(width * width)), sum(static_cast<size_t>(width));
  double worst = 0;
  for (size_t m = 0; m < static_cast<size_t>(n * width); m += static_cast<size_t>(width)) {
    double divisor = 0;
    std::vector<double> want(static_cast<size_t>(width));
    for (size_t a = 0; a < static_cast<size_t>(width); ++a) {
      sum[a] += k[m + a];
      divisor += q[m + a] * sum[a];
      for (size_t c = 0; c < static_cast<size_t>(width); ++c) {
        double& s = state[a * static_cast<size_t>(width) + c];
        s += k[m + a] * v[m + c];
        want[c] += q[m + a] * s;
      }
    }
    for (size_t c = 0; c < static_cast<size_t>(width); ++c)
      worst = std::max(worst, std::abs(out[m + c] - want[c] / divisor));
  }
  BOOST_TEST(worst < 1e-13);
}

BOOST_AUTO_TEST_CASE(clamps_by_hand) {
  const double e = std::exp(1);
  const auto out = [](Kind kind, double tau) {
    return last_output({2, 1, -7}, {10, 20, 1e6}, with({kind, tau}));
  };
  const double both = (10 * e + 20) / (e + 1);
  BOOST_TEST(is_near(out(Kind::clamp_absolute, -1), both));
  BOOST_TEST(is_near(out(Kind::clamp_absolute, 1), both));
  BOOST_TEST(is_near(out(Kind::clamp_absolute, 1.5), 10.));
  BOOST_TEST(is_near(out(Kind::clamp_absolute, 9), 10.));  // the largest stays
  BOOST_TEST(is_near(out(Kind::clamp_relative, 1), both));
  BOOST_TEST(is_near(out(Kind::clamp_relative, 0.5), 10.));
  BOOST_TEST(is_near(out(Kind::clamp_relative, 0), 10.));
}

BOOST_AUTO_TEST_CASE(every_combination_of_options_equals_the_reference) {
  for (const DType dtype : kFloats)
    for (const Case& c : kCases)
      for (int mask = 0; mask < 16; ++mask) {
        // Beside tables of any sign a row's sum may be small, and it divides the rounding of out.
        const bool has_tables = (mask & 7) != 0;
        if (dtype == DType::bf16 && c.normalizer.kind == Kind::linear && has_tables) continue;
        const Sizes s = mask % 3 == 0 ? Sizes{2, 1, 70, 130, 12} : Sizes{1, 2, 211, 211, 8};
        AttentionProblem p = test::make_problem(s, dtype);
        if (mask & 1) p.add_bias();
        if (mask & 2) p.add_weight();
        if (mask & 4) p.add_row_scale();
        if (mask & 8) {
          p.add_far_heads();
          p.rule.switch_distance = 40;
        }
        const int64_t windows[] = {0, 50, 99, 120};
        p.rule.window = windows[mask % 4];
        p.rule.sinks = mask % 5 == 0 ? 3 : 0;
        p.rule.normalizer = c.normalizer;
        test::compare(p, concat(c.name, ' ', s, " options ", mask));
      }
}

BOOST_AUTO_TEST_CASE(several_groups_and_lengths_equal_the_reference) {
  for (const DType dtype : kFloats)
    for (const Case& c : kCases) {
      for (const int64_t keys : {1, 2, 16, 97, 700})
        for (const int64_t queries : {keys, int64_t{1}}) {
          const Sizes s{1, 1, queries, keys, 16};
          AttentionProblem p = test::make_problem(s, dtype);
          p.rule.normalizer = c.normalizer;
          test::compare(p, concat(c.name, ' ', s));
        }
    }
}

// Bias of -inf: hidden, so never the largest.
BOOST_AUTO_TEST_CASE(rows_that_see_nothing_are_zero) {
  for (const Case& c : kCases) {
    AttentionProblem p = test::make_problem({1, 1, 9, 9, 4}, DType::f32);
    p.rule.bias = Tensor::full({1, 9}, -std::numeric_limits<double>::infinity(), DType::f32);
    p.rule.normalizer = c.normalizer;
    p.rule.normalizer.penalty = 0;
    for (const auto& [name, x] : run(p))
      for (const double y : x.to_vector()) BOOST_TEST(y == 0, c.name << ' ' << name);
  }
}

BOOST_AUTO_TEST_CASE(a_threshold_below_all_scores_is_softmax) {
  for (const DType dtype : kFloats) {
    AttentionProblem p = test::make_problem({1, 2, 250, 250, 16}, dtype);
    p.add_bias();
    const test::Named want = run(p);
    for (const Normalizer& n :
         {Normalizer{Kind::clamp_absolute, -1e4}, Normalizer{Kind::clamp_relative, 1e4}}) {
      p.rule.normalizer = n;
      for (const auto& [name, x] : run(p))
        BOOST_TEST(test::relative_error(x.to_vector(), want.at(name).to_vector()) <=
                       test::attention_tolerance(dtype),
                   name);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_nan_shows) {
  for (const Case& c : kCases)
    for (const char* where : {"q", "k", "v"}) {
      AttentionProblem p = test::make_problem({1, 1, 30, 30, 8}, DType::f32);
      p.rule.normalizer = c.normalizer;
      test::for_each_input(p, [&](const std::string& name, Tensor& x) {
        if (name == where) x.data<float>()[20 * 8] = std::numeric_limits<float>::quiet_NaN();
      });
      // Row 20 sees it: as its own query, key or value. A clamp may leave the value out.
      if (std::string(where) == "v" && c.normalizer.is_clamped()) continue;
      BOOST_TEST(std::isnan(p().to_vector()[20 * 8]), c.name << ' ' << where);
    }
}

BOOST_AUTO_TEST_CASE(results_do_not_depend_on_the_number_of_threads) {
  for (const Case& c : kCases) {
    AttentionProblem p = test::make_problem({1, 3, 500, 500, 16}, DType::f32);
    p.add_bias();
    p.rule.normalizer = c.normalizer;
    test::check_threads(p);
  }
}

BOOST_AUTO_TEST_CASE(gradients_equal_central_differences) {
  for (const Case& c : kCases) {
    if (c.normalizer.penalty != 0) continue;  // not in the output: compared with the reference
    AttentionProblem p = test::make_problem({2, 2, 7, 9, 3}, DType::f64);
    p.add_bias();
    p.add_weight();
    p.add_row_scale();
    p.rule.window = 6;
    p.rule.normalizer = c.normalizer;
    test::check_differences(p);
  }
}

// The sum of P of each row is the output of values that are all 1.
double penalty_of(AttentionProblem p) {
  p.heads.v = Tensor::full(p.heads.v.shape(), 1, DType::f64);
  const Tensor sums = p();
  double total = 0;
  for (const double sum : sums.to_vector()) total += (sum - 1) * (sum - 1);
  return p.rule.normalizer.penalty * total / static_cast<double>(sums.numel());
}

BOOST_AUTO_TEST_CASE(the_penalty_alone_equals_central_differences) {
  AttentionProblem p = test::make_problem({1, 2, 6, 8, 3}, DType::f64);
  p.add_bias();
  p.rule.normalizer = {Kind::relu, 0.7, 3};
  p.dout = Tensor::zeros(p.dout.shape(), DType::f64);
  test::check_differences_of(penalty_of, p, 1e-6, 1e-8);
}

BOOST_AUTO_TEST_CASE(parameters_that_do_not_fit_are_refused) {
  const auto refused = [](const Normalizer& n, const char* text) {
    AttentionProblem p = test::make_problem({1, 1, 3, 3, 4}, DType::f32);
    p.rule.normalizer = n;
    BOOST_CHECK_EXCEPTION(p(), ConfigError, says_exactly(text));
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refused({Kind::relu, 0}, "[attention] expected a normalizer.parameter above 0 for relu, got 0");
  refused({Kind::clamp_relative, -1},
          "[attention] expected a normalizer.parameter of 0 or more for clamp_relative, got -1");
  refused({Kind::clamp_absolute, nan},
          "[attention] expected a finite normalizer.parameter, got nan");
  refused({Kind::relu, 1, -1},
          "[attention] expected a finite normalizer.penalty of 0 or more, got -1");
  for (const Kind kind : {Kind::softmax, Kind::linear})
    refused({kind, 1, 1}, "[attention] expected a normalizer.penalty for relu kinds alone");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
