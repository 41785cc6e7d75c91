// Attention where far pairs take other copies of q and k.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <map>

#include "engine/ops/pointwise.h"
#include "engine/ops/split_heads.h"
#include "engine/ops/view.h"
#include "tests/support/attention_problem.h"
#include "tests/support/golden_cases.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_attention_far)  // ctest: on_cuda:slow
namespace {

using test::AttentionProblem;
using test::run;
using test::Sizes;

AttentionProblem make_problem(const Sizes& s, DType dtype, int64_t distance, int64_t position = 0) {
  AttentionProblem p = test::make_problem(s, dtype);
  p.add_far_heads();
  p.rule.switch_distance = distance;
  p.rule.switch_position = position;
  return p;
}

std::string text(const Sizes& s, const AttentionRule& r) {
  return concat(s, " distance ", r.switch_distance, " position ", r.switch_position, " window ",
                r.window, " sinks ", r.sinks, r.bias.defined() ? " bias" : "",
                r.weight.defined() ? " weight" : "", r.row_scale.defined() ? " row_scale" : "");
}

const DType kFloats[] = {DType::f64, DType::f32, DType::bf16};

BOOST_AUTO_TEST_CASE(a_far_pair_takes_its_own_copies_by_hand) {
  // Scores 1 * 2 = 2 at distance 0 and 4 * 3 = 12 - 10 = 2 at distance 1: halves.
  AttentionRule rule;
  rule.switch_distance = 1;
  rule.bias = Tensor::from({0, -10}, {1, 2}, DType::f64);
  const auto column = [](std::initializer_list<double> x) {
    return Tensor::from(x, {1, 1, static_cast<int64_t>(x.size()), 1}, DType::f64);
  };
  const Tensor out = attention(column({1}), column({100, 2}), column({10, 20}), rule,
                               {column({4}), column({3, 100})});
  BOOST_TEST(std::abs(out.item() - 15) < 1e-13);
  rule.switch_position = 2;  // the query is at position 1
  const Tensor near = attention(column({1}), column({12, 2}), column({10, 20}), rule,
                                {column({4}), column({3, 100})});
  BOOST_TEST(std::abs(near.item() - 15) < 1e-13);
}

BOOST_AUTO_TEST_CASE(every_switch_equals_the_reference) {
  for (const DType dtype : kFloats)
    for (const int64_t distance : {1, 2, 17, 95, 96, 97, 150, 210, 300})
      for (const int64_t position : {0, 60, 120, 205, 500})
        for (const Sizes& s : {Sizes{1, 2, 211, 211, 8}, Sizes{2, 1, 70, 130, 5}}) {
          const AttentionProblem p = make_problem(s, dtype, distance, position);
          test::compare(p, text(s, p.rule));
        }
}

BOOST_AUTO_TEST_CASE(every_combination_of_options_equals_the_reference) {
  for (const DType dtype : kFloats)
    for (int mask = 0; mask < 8; ++mask)
      for (const auto& [distance, position] : {std::pair<int64_t, int64_t>{20, 0}, {40, 90}})
        for (const auto& [window, sinks] :
             {std::pair<int64_t, int64_t>{0, 0}, {10, 0}, {10, 3}, {20, 3}, {30, 0}, {50, 110}}) {
          for (const Sizes& s : {Sizes{1, 2, 199, 199, 8}, Sizes{2, 1, 70, 130, 12}}) {
            AttentionProblem p = make_problem(s, dtype, distance, position);
            if (mask & 1) p.add_bias();
            if (mask & 2) p.add_weight();
            if (mask & 4) p.add_row_scale();
            p.rule.window = window;
            p.rule.sinks = sinks;
            test::compare(p, text(s, p.rule));
          }
        }
}

BOOST_AUTO_TEST_CASE(several_chunks_and_lengths_equal_the_reference) {
  for (const DType dtype : kFloats) {
    for (const int64_t distance : {100, 256, 400}) {
      const Sizes s{1, 1, 700, 700, 16};
      AttentionProblem p = make_problem(s, dtype, distance);
      p.add_bias();
      test::compare(p, text(s, p.rule));
    }
    for (const int64_t keys : {1, 2, 7, 16, 63, 96, 97, 193, 289})
      for (const int64_t queries : {keys, (keys + 1) / 2, int64_t{1}}) {
        const Sizes s{1, 1, queries, keys, 65};
        const AttentionProblem p = make_problem(s, dtype, 5, 8);
        test::compare(p, text(s, p.rule));
      }
  }
}

BOOST_AUTO_TEST_CASE(a_switch_beyond_the_length_changes_no_bit) {
  for (const DType dtype : kFloats) {
    AttentionProblem p = make_problem({1, 2, 250, 250, 16}, dtype, 250);
    p.add_bias();
    const test::Named with = run(p);
    p.heads.far = {};
    for (const auto& [name, x] : run(p))
      BOOST_TEST(test::same_whatever_the_kernel(x, with.at(name), dtype, name), name);
    for (const char* name : {"dfar_q", "dfar_k"}) {
      const std::vector<double> zeros = with.at(name).to_vector();
      BOOST_TEST(std::count(zeros.begin(), zeros.end(), 0.0) == static_cast<int64_t>(zeros.size()));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_distance_without_copies_changes_no_bit) {
  AttentionProblem p = test::make_problem({1, 2, 250, 250, 16}, DType::f32);
  const test::Named without = run(p);
  p.rule.switch_distance = 30;
  for (const auto& [name, x] : run(p)) BOOST_TEST(test::same_or_absent(x, without.at(name)), name);
}

BOOST_AUTO_TEST_CASE(results_do_not_depend_on_the_number_of_threads) {
  for (const DType dtype : kFloats) {
    AttentionProblem p = make_problem({1, 3, 900, 900, 16}, dtype, 333);
    p.add_bias();
    p.add_weight();
    test::check_threads(p);
    test::check_threads(make_problem({5, 2, 128, 128, 20}, dtype, 50, 70));
  }
}

BOOST_AUTO_TEST_CASE(gradients_equal_central_differences) {
  AttentionProblem p = make_problem({2, 2, 7, 9, 3}, DType::f64, 3, 4);
  p.add_bias();
  p.add_weight();
  p.add_row_scale();
  p.rule.window = 6;
  p.rule.sinks = 1;
  test::check_differences(p);
}

BOOST_AUTO_TEST_CASE(working_memory_is_linear_in_the_length) {
  int64_t extra[2] = {};
  for (const int i : {0, 1}) {
    const int64_t length = i ? 2048 : 1024;
    const AttentionProblem p = make_problem({1, 1, length, length, 8}, DType::f32, 500);
    const test::Named first = run(p);
    reset_peak_memory({});
    const int64_t before = memory_stats({}).current_bytes;
    run(p);
    extra[i] = memory_stats({}).peak_bytes - before;
  }
  BOOST_TEST(extra[1] < 3 * extra[0]);  // a [T, S] matrix would make it four times
  BOOST_TEST(extra[1] < 2048 * 2048);
}

// --- golden cases: angles of the near and far copies at base 10000, from split_heads ---

using Json = nlohmann::json;

// The ids that q at position m and k at position n are rotated by.
struct Ids {
  std::function<double(double m)> q, k;
};
struct GoldenRule {
  Ids near = {}, far = {};
  int64_t distance = 0, position = 0, window = 0, sinks = 0;
};

std::map<std::string, GoldenRule>
golden_rules() {  // w 3, k 4; group 2, window 3; sinks 1, recent 3
  const auto itself = [](double x) { return x; };
  const auto constant = [](double c) { return [c](double) { return c; }; };
  const Ids plain{itself, itself};
  std::map<std::string, GoldenRule> rules;
  rules["rerope"] = {plain, {constant(3), constant(0)}, 3};
  rules["leaky_rerope"] = {
      plain, {[](double m) { return (m + 9) / 4; }, [](double n) { return n / 4; }}, 3};
  rules["self_extend"] = {plain,
                          {[](double m) { return std::floor(m / 2) + 3 - 1; },
                           [](double n) { return std::floor(n / 2); }},
                          3};
  rules["lm_infinite"] = {plain, {constant(3), constant(0)}, 3, 0, 3, 1};
  rules["streaming"] = {plain, {constant(3), itself}, 3, 4, 3, 1};
  return rules;
}

BOOST_AUTO_TEST_CASE(golden_cases_with_two_branches_are_met) {
  const Json& file = test::golden("attention.json");
  const int64_t heads = file.at("heads"), length = file.at("length"),
                head_dim = file.at("head_dim");
  test::for_each_golden_case(golden_rules(), [&](const Json& golden, const GoldenRule& want) {
    const std::string name = golden.at("name");
    for (const DType dtype : kFloats) {
      const DType acc = accumulate_dtype(dtype);
      const auto input = [&](const char* key) {  // [H, L, K] to [1, L, H, 1, K]
        const Tensor x =
            Tensor::from(test::golden_numbers(file.at(key)), {heads, length, head_dim}, DType::f64);
        return reshape(permute(x, {1, 0, 2}), {1, length, heads, 1, head_dim});
      };
      Tensor qkv = cast(reshape(concat({input("q"), input("k"), input("v")}, 3),
                                {1, length, 3 * heads * head_dim}),
                        dtype);
      qkv.set_requires_grad();
      const auto angles = [&](const std::function<double(double)>& id) {
        std::vector<double> all;
        for (int64_t x = 0; x < length; ++x)
          for (int64_t i = 0; i < head_dim / 2; ++i)
            all.push_back(
                id(static_cast<double>(x)) *
                std::pow(10000, -2.0 * static_cast<double>(i) / static_cast<double>(head_dim)));
        return Tensor::from(all, {length, head_dim / 2}, DType::f64);
      };
      const Tensor near = angles(want.near.q), far_q = angles(want.far.q),
                   far_k = angles(want.far.k);
      Rotation rotation{cast(cos(near), acc), cast(sin(near), acc)};
      rotation.far = {cast(cos(far_q), acc), cast(sin(far_q), acc), cast(cos(far_k), acc),
                      cast(sin(far_k), acc)};
      AttentionRule rule;
      rule.switch_distance = want.distance;
      rule.switch_position = want.position;
      rule.window = want.window;
      rule.sinks = want.sinks;
      const Heads h = split_heads(qkv, heads, rotation);
      const Tensor out = attention(h.q, h.k, h.v, rule, h.far);
      backward(out, cast(reshape(input("dout"), {1, length, heads * head_dim}), dtype));

      const auto check = [&](const char* key, const Tensor& got) {  // [L, H, 1, K]
        const Tensor by_head =
            permute(reshape(cast(got, DType::f64), {length, heads, head_dim}), {1, 0, 2});
        const double e =
            test::relative_error(by_head.to_vector(), test::golden_numbers(golden.at(key)));
        BOOST_CHECK_MESSAGE(e <= test::attention_tolerance(dtype),
                            name << ' ' << key << ' ' << dtype << " is off by " << e);
      };
      check("out", out.detach());
      const Tensor dqkv = reshape(qkv.grad(), {length, heads, 3, head_dim});
      check("dq", slice(dqkv, 2, 0, 1));
      check("dk", slice(dqkv, 2, 1, 2));
      check("dv", slice(dqkv, 2, 2, 3));
    }
  });
}

// --- messages ---

BOOST_AUTO_TEST_CASE(far_copies_that_do_not_fit_are_refused) {
  const auto refused = [](auto&& change, auto kind, const char* text) {
    AttentionProblem p = make_problem({2, 3, 4, 5, 8}, DType::bf16, 2);
    change(p);
    BOOST_CHECK_EXCEPTION(p(), decltype(kind), says_exactly(text));
  };
  refused([](AttentionProblem& p) { p.rule.switch_distance = 0; }, ConfigError(""),
          "[attention] expected a switch_distance with far.q and far.k, got 0: no pair is far");
  refused([](AttentionProblem& p) { p.rule.switch_position = -1; }, ConfigError(""),
          "[attention] expected a switch_distance and a switch_position of 0 or more, got 2 and "
          "-1");
  refused([](AttentionProblem& p) { p.heads.far.k = {}; }, ShapeError(""),
          "[attention] expected far.q and far.k together, got one of them");
  refused([](AttentionProblem& p) { p.heads.far.k = p.heads.far.q; }, ShapeError(""),
          "[attention] expected far.q and far.k of the shapes of q and k, [2, 3, 4, 8] and "
          "[2, 3, 5, 8], got [2, 3, 4, 8] and [2, 3, 4, 8]");
  refused(
      [](AttentionProblem& p) {
        p.heads.far.q = test::normal({2, 3, 4, 8}, 1, DType::f32);
      },
      DTypeError(""), "[attention] expected far.q in bfloat16, got float32");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
