#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "engine/base/parallel.h"
#include "engine/ops/attention.h"
#include "tests/support/attention_problem.h"
#include "tests/support/golden_cases.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_attention)  // ctest: on_cuda:slow
namespace {

using test::AttentionProblem;
using test::normal;
using test::run;
using test::Sizes;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Options {
  bool bias = false, weight = false, row_scale = false;
  int64_t window = 0, sinks = 0;
};
std::ostream& operator<<(std::ostream& out, const Options& o) {
  return out << " bias " << o.bias << " weight " << o.weight << " row_scale " << o.row_scale
             << " window " << o.window << " sinks " << o.sinks;
}

AttentionProblem make_problem(const Sizes& s, const Options& o, DType dtype) {
  AttentionProblem p = test::make_problem(s, dtype);
  if (o.bias) p.add_bias();
  if (o.weight) p.add_weight();
  if (o.row_scale) p.add_row_scale();
  p.rule.window = o.window;
  p.rule.sinks = o.sinks;
  return p;
}

void compare(const Sizes& s, const Options& o, DType dtype) {
  test::compare(make_problem(s, o, dtype), concat(s, o));
}

BOOST_AUTO_TEST_CASE(one_query_of_two_keys_by_hand) {
  // Scores 1 * 2 * 0.5 + 0 = 1 at distance 0 and 3 * 2 * 0.25 - 0.5 = 1 at distance 1: halves.
  AttentionRule rule;
  rule.weight = Tensor::from({0.5, 0.25}, {1, 2}, DType::f64);
  rule.bias = Tensor::from({0, -0.5}, {1, 2}, DType::f64);
  const Tensor out = attention(Tensor::from({2}, {1, 1, 1, 1}, DType::f64),
                               Tensor::from({3, 1}, {1, 1, 2, 1}, DType::f64),
                               Tensor::from({10, 20}, {1, 1, 2, 1}, DType::f64), rule);
  BOOST_TEST((out.shape() == Shape{1, 1, 1}));
  BOOST_TEST(std::abs(out.item() - 15) < 1e-13);
}

BOOST_AUTO_TEST_CASE(every_combination_of_options_equals_the_reference) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16})
    for (int mask = 0; mask < 8; ++mask)
      for (const auto& [window, sinks] : {std::pair<int64_t, int64_t>{0, 0},
                                          {1, 0},
                                          {37, 0},
                                          {37, 3},
                                          {100, 0},
                                          {100, 110},
                                          {5, 1000}}) {
        const Options o{(mask & 1) != 0, (mask & 2) != 0, (mask & 4) != 0, window, sinks};
        compare({1, 2, 211, 211, 8}, o, dtype);
        compare({2, 1, 70, 130, 5}, o, dtype);
      }
}

BOOST_AUTO_TEST_CASE(every_head_dim_equals_the_reference) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16})
    for (const int64_t head_dim : {1, 3, 8, 16, 24, 31, 32, 48, 64, 65, 80, 96, 128, 256})
      compare({1, 2, 113, 113, head_dim}, {true, true, true, 0, 0}, dtype);
}

BOOST_AUTO_TEST_CASE(every_length_equals_the_reference) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16})
    for (const int64_t keys : {1, 2, 5, 6, 7, 12, 16, 17, 63, 95, 96, 97, 191, 192, 193, 255, 289})
      for (const int64_t queries : {keys, (keys + 1) / 2, int64_t{1}}) {
        compare({1, 1, queries, keys, 16}, {true, false, false, 0, 0}, dtype);
        compare({1, 1, queries, keys, 16}, {false, false, true, 50, 2}, dtype);
      }
}

BOOST_AUTO_TEST_CASE(several_chunks_equal_the_reference) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
    compare({1, 1, 1000, 1000, 16}, {true, true, true, 0, 0}, dtype);
    compare({1, 1, 333, 700, 16}, {true, false, false, 0, 0}, dtype);
    compare({1, 1, 700, 700, 12}, {true, true, false, 250, 7}, dtype);
  }
}

BOOST_AUTO_TEST_CASE(a_batch_adds_up_in_the_table_gradients) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16})
    compare({3, 4, 128, 128, 32}, {true, true, false, 0, 0}, dtype);
}

BOOST_AUTO_TEST_CASE(large_scores_do_not_overflow) {
  AttentionProblem p = make_problem({1, 1, 150, 150, 16}, {true, false, false, 0, 0}, DType::f64);
  p.heads.q = normal(p.heads.q.shape(), 1, DType::f64, 100);
  p.rule.bias = normal(p.rule.bias.shape(), 5, DType::f64, 1000);
  test::compare(p, "large scores");
}

BOOST_AUTO_TEST_CASE(a_pair_with_bias_minus_infinity_is_invisible) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
    AttentionProblem p = make_problem({2, 1, 200, 200, 8}, {true, true, false, 0, 0}, dtype);
    std::vector<double> bias = p.rule.bias.to_vector();
    for (size_t d = 1; d < bias.size(); d += 1 + d % 3) bias[d] = -kInfinity;
    p.rule.bias = Tensor::from(bias, p.rule.bias.shape(), p.rule.bias.dtype());
    test::compare(p, "bias with -inf");
    const std::vector<double> dbias = run(p).at("dbias").to_vector();
    for (size_t d = 0; d < bias.size(); ++d)
      if (bias[d] == -kInfinity) BOOST_TEST(dbias[d] == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_row_that_sees_nothing_has_output_and_gradients_zero) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
    AttentionProblem p = make_problem({1, 1, 120, 120, 8}, {true, false, false, 0, 0}, dtype);
    std::vector<double> bias(120, -kInfinity);
    bias[100] = 0.5;  // so rows 100 to 119 see one key each, the others none
    p.rule.bias = Tensor::from(bias, {1, 120}, p.rule.bias.dtype());
    test::compare(p, "rows that see nothing");
    const test::Named got = run(p);
    const auto is_zero = [](const Tensor& x, size_t begin, size_t end) {
      const std::vector<double> values = x.to_vector();
      return std::all_of(values.begin() + static_cast<int64_t>(begin),
                         values.begin() + static_cast<int64_t>(end),
                         [](double y) { return y == 0; });
    };
    BOOST_TEST(is_zero(got.at("out"), 0, 100 * 8));
    BOOST_TEST(is_zero(got.at("dq"), 0, 100 * 8));
    BOOST_TEST(is_zero(got.at("dv"), 20 * 8, 120 * 8));
    BOOST_TEST(is_zero(got.at("dbias"), 0, 100));
  }
}

BOOST_AUTO_TEST_CASE(a_value_that_is_not_a_number_is_not_hidden) {
  for (int which = 0; which < 3; ++which) {
    AttentionProblem p = make_problem({1, 1, 40, 40, 8}, {}, DType::f32);
    Tensor& x = which == 0 ? p.heads.q : which == 1 ? p.heads.k : p.heads.v;
    x.data<float>()[20 * 8 + 3] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<double> out = run(p).at("out").to_vector();
    BOOST_TEST(std::isnan(out[20 * 8 + 3]));
  }
}

// A bias of -slope * distance: probabilities of far pairs are 0, of near pairs where slope < 0.
AttentionProblem decaying_problem(double slope, DType dtype) {
  AttentionProblem p = make_problem({1, 2, 600, 700, 16}, {true, false, false, 0, 0}, dtype);
  std::vector<double> bias(2 * 700);
  for (size_t i = 0; i < bias.size(); ++i) bias[i] = -slope * static_cast<double>(i % 700);
  p.rule.bias = Tensor::from(bias, p.rule.bias.shape(), p.rule.bias.dtype());
  return p;
}

BOOST_AUTO_TEST_CASE(far_keys_of_a_decaying_bias_equal_the_reference) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16})
    for (const double slope : {0.2, 1.0, 20.0, -0.2})
      test::compare(decaying_problem(slope, dtype), concat("slope ", slope));
}

BOOST_AUTO_TEST_CASE(a_far_score_that_is_not_a_number_is_not_hidden) {
  AttentionProblem p = decaying_problem(20, DType::f32);
  p.heads.k.data<float>()[10 * 16 + 3] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<double> out = run(p).at("out").to_vector();
  for (size_t query = 0; query < 600; ++query) BOOST_TEST(std::isnan(out[query * 32]));
}

BOOST_AUTO_TEST_CASE(results_do_not_depend_on_the_number_of_threads) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16})
    for (const Sizes& s : {Sizes{1, 3, 900, 900, 16}, Sizes{5, 2, 128, 128, 20}})
      test::check_threads(make_problem(s, {true, true, true, 0, 0}, dtype));
}

BOOST_AUTO_TEST_CASE(gradients_equal_central_differences) {
  test::check_differences(make_problem({2, 2, 7, 9, 3}, {true, true, true, 4, 1}, DType::f64));
}

BOOST_AUTO_TEST_CASE(table_gradients_are_left_out_when_not_wanted) {
  const AttentionProblem p = make_problem({1, 2, 50, 50, 8}, {true, true, false, 0, 0}, DType::f32);
  const test::Named with = run(p), without = run(p, test::TableNames());
  BOOST_TEST(with.contains("dbias"));
  BOOST_TEST(!without.contains("dbias"));
  BOOST_TEST(!without.contains("dweight"));
  BOOST_TEST(test::same_or_absent(with.at("dq"), without.at("dq")));
}

BOOST_AUTO_TEST_CASE(working_memory_is_linear_in_the_length) {
  int64_t extra[2] = {};
  for (const int i : {0, 1}) {
    const int64_t length = i ? 2048 : 1024;
    AttentionProblem p =
        make_problem({1, 1, length, length, 8}, {true, true, false, 0, 0}, DType::f32);
    const test::Named first = run(p);
    reset_peak_memory({});
    const int64_t before = memory_stats({}).current_bytes;
    run(p);
    extra[i] = memory_stats({}).peak_bytes - before;
  }
  BOOST_TEST(extra[1] < 3 * extra[0]);  // a [T, S] matrix would make it four times
  BOOST_TEST(extra[1] < 2048 * 2048);
}

// --- golden cases: all that need tables, a window or a row scale alone ---

using Json = nlohmann::json;

double number(const Json& config, const char* key, size_t head) {
  return config.at(key).at(head).get<double>();
}

// The tables of encodings.md section 3, as b(d) and w(d) of head h, and the row scale of position
// m.
struct GoldenRule {
  std::function<double(const Json&config, size_t h, double d)> bias = nullptr, weight = nullptr;
  std::function<double(const Json& config, double m)> row_scale = nullptr;
};

// exp(-rate d^power)
double bell(const Json& c, size_t h, double d, const char* rate, const char* power) {
  return std::exp(-number(c, rate, h) * std::pow(d, power ? number(c, power, h) : 2.0));
}

double sandwich(double ratio, double d) {  // bar_d = 8
  double sum = 0;
  for (int i = 0; i < 4; ++i) sum += std::cos(d * std::pow(10000, -i / 4.0)) - 1;
  return sum / ratio;
}

double t5(const Json& c, size_t h, double d) {
  const double buckets = c.at("num_buckets"), exact = buckets / 2, last = c.at("max_distance");
  const double far = exact + std::floor(std::log(d / exact) / std::log(last / exact) * exact);
  const auto bucket = static_cast<size_t>(d < exact ? d : std::min(buckets - 1, far));
  return c.at("bias_scale").get<double>() * c.at("table").at(bucket).at(h).get<double>();
}

double log_n(const Json& c, double m) {
  return std::log(m + 1) / std::log(c.at("L_train").get<double>());
}

std::map<std::string, GoldenRule> golden_rules() {
  using C = const Json&;
  std::map<std::string, GoldenRule> rules;
  const auto alibi = [](C c, size_t h, double d) { return -number(c, "slopes", h) * d; };
  rules["none"] = rules["window"] = {};
  rules["alibi"].bias = rules["window_alibi"].bias = alibi;
  rules["alibi_pre_scale"].bias = [alibi](C c, size_t h, double d) {
    return c.at("bias_scale").get<double>() * alibi(c, h, d);
  };
  rules["alibi_learned"].bias = [](C c, size_t h, double d) {
    return -std::exp(number(c, "theta", h)) * d;
  };
  rules["kerple_log"].bias = [](C c, size_t h, double d) {
    return -number(c, "r1", h) * std::log1p(number(c, "r2", h) * d);
  };
  const auto power = [](C c, size_t h, double d) {
    return -number(c, "r1", h) * std::pow(d, number(c, "r2", h));
  };
  rules["kerple_power"].bias = rules["bias_wht"].bias = power;
  rules["kerple_log3"].bias = [](C c, size_t h, double d) {
    return -number(c, "r1", h) * std::log1p(number(c, "r2", h) * std::pow(d, number(c, "r3", h)));
  };
  rules["bias_wht"].weight = [](C c, size_t h, double d) { return bell(c, h, d, "r3", "r4"); };
  rules["gauss_bias2"].bias = [](C c, size_t h, double d) {
    return number(c, "r1", h) * bell(c, h, d, "r2", nullptr);
  };
  rules["gauss_bias3"].bias = [](C c, size_t h, double d) {
    return number(c, "r1", h) * bell(c, h, d, "r2", "r3");
  };
  rules["gauss_wht1"].weight = [](C c, size_t h, double d) { return bell(c, h, d, "r1", nullptr); };
  rules["gauss_wht2"].weight = [](C c, size_t h, double d) { return bell(c, h, d, "r1", "r2"); };
  rules["sandwich"].bias = [](C c, size_t h, double d) { return sandwich(number(c, "h", h), d); };
  rules["sandwich_learned"].bias = [](C c, size_t h, double d) {
    return sandwich(std::exp(number(c, "theta", h)), d);
  };
  rules["t5"].bias = t5;
  rules["log_n_clipped"].row_scale = [](C c, double m) { return std::max(1.0, log_n(c, m)); };
  rules["log_n_unclipped"].row_scale = log_n;
  return rules;
}

// [H, L, K] as numbers to [L, H * K]
std::vector<double> tokens_first(const std::vector<double>& x, size_t heads, size_t length) {
  const size_t head_dim = x.size() / heads / length;
  std::vector<double> y(x.size());
  for (size_t h = 0; h < heads; ++h)
    for (size_t i = 0; i < length; ++i)
      for (size_t c = 0; c < head_dim; ++c)
        y[(i * heads + h) * head_dim + c] = x[(h * length + i) * head_dim + c];
  return y;
}

BOOST_AUTO_TEST_CASE(golden_cases_without_rotation_are_met) {
  const Json& file = test::golden("attention.json");
  const int64_t heads = file.at("heads"), length = file.at("length"),
                head_dim = file.at("head_dim");
  test::for_each_golden_case(golden_rules(), [&](const Json& golden, const GoldenRule& rule) {
    const std::string name = golden.at("name");
    const Json& config = golden.at("config");
    for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
      const DType acc = accumulate_dtype(dtype);
      const auto input = [&](const char* key) {
        return Tensor::from(test::golden_numbers(file.at(key)), {1, heads, length, head_dim},
                            dtype);
      };
      AttentionProblem p{{input("q"), input("k"), input("v")}, {}, {}};
      p.dout = Tensor::from(tokens_first(test::golden_numbers(file.at("dout")),
                                         static_cast<size_t>(heads), static_cast<size_t>(length)),
                            {1, length, heads * head_dim}, dtype);
      // Tables that the encoding leaves out are given as 0 and 1, so that db and dw exist.
      std::vector<double> bias, weight, row_scale;
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t d = 0; d < length; ++d) {
          const auto head = static_cast<size_t>(h);
          const auto distance = static_cast<double>(d);
          bias.push_back(rule.bias ? rule.bias(config, head, distance) : 0);
          weight.push_back(rule.weight ? rule.weight(config, head, distance) : 1);
        }
      p.rule.bias = Tensor::from(bias, {heads, length}, acc);
      p.rule.weight = Tensor::from(weight, {heads, length}, acc);
      if (rule.row_scale) {
        for (int64_t m = 0; m < length; ++m)
          row_scale.push_back(rule.row_scale(config, static_cast<double>(m)));
        p.rule.row_scale = Tensor::from(row_scale, {length}, acc);
      }
      p.rule.window = config.value("w", int64_t{0});

      const test::Named got = run(p);
      const auto check = [&](const char* key, const char* name_of_result) {
        if (!golden.contains(key)) return;
        std::vector<double> want = test::golden_numbers(golden.at(key));
        if (std::string_view(key) == "out")
          want = tokens_first(want, static_cast<size_t>(heads), static_cast<size_t>(length));
        const double e = test::relative_error(got.at(name_of_result).to_vector(), want);
        BOOST_CHECK_MESSAGE(e <= test::attention_tolerance(dtype),
                            name << ' ' << key << ' ' << dtype << " is off by " << e);
      };
      check("out", "out");
      check("dq", "dq");
      check("dk", "dk");
      check("dv", "dv");
      check("db", "dbias");
      check("dw", "dweight");
    }
  });
}

// --- messages ---

BOOST_AUTO_TEST_CASE(arguments_that_do_not_fit_are_refused) {
  const auto refused = [](auto&& change, auto kind, const auto&... text) {
    AttentionProblem p = make_problem({2, 3, 4, 5, 8}, {true, true, true, 0, 0}, DType::bf16);
    change(p);
    BOOST_CHECK_EXCEPTION(p(), decltype(kind), says(text...));
  };
  const ShapeError shape("");
  const DTypeError dtype("");
  const ConfigError config("");
  refused(
      [](AttentionProblem& p) {
        p.heads.q = p.heads.q.view({6, 4, 8});
      },
      shape, "[attention] expected q of shape [B, H, T, K], none of them 0, got [6, 4, 8]");
  refused(
      [](AttentionProblem& p) {
        p.heads.q = p.heads.q.view({2, 3, 0, 8});
      },
      shape, "got [2, 3, 0, 8]");
  refused(
      [](AttentionProblem& p) {
        p.heads.k = p.heads.k.view({2, 3, 3, 8});
      },
      shape,
      "[attention] expected k of shape [B, G, S, K] with S >= T and G dividing H for q [2, 3, 4, "
      "8], got "
      "[2, 3, 3, 8]");
  refused(
      [](AttentionProblem& p) {
        p.heads.k = p.heads.k.view({2, 3, 10, 4});
      },
      shape, "expected k of shape");
  refused(
      [](AttentionProblem& p) {
        p.heads.v = p.heads.v.view({2, 3, 4, 8});
      },
      shape, "expected v of the shape of k, [2, 3, 5, 8], got [2, 3, 4, 8]");
  refused(
      [](AttentionProblem& p) {
        p.rule.bias = p.rule.bias.view({3, 4});
      },
      shape, "expected bias of shape [3, 5], got [3, 4]");
  refused(
      [](AttentionProblem& p) {
        p.rule.weight = p.rule.weight.view({2, 5});
      },
      shape, "expected weight of shape [3, 5], got [2, 5]");
  refused([](AttentionProblem& p) { p.rule.row_scale = p.rule.row_scale.view({3}); }, shape,
          "expected row_scale of shape [4], got [3]");
  refused([](AttentionProblem& p) { p.heads.k = normal(p.heads.k.shape(), 1, DType::f32); }, dtype,
          "expected k in bfloat16, got float32");
  refused(
      [](AttentionProblem& p) {
        p.rule.bias = normal({3, 5}, 1, DType::f64);
      },
      dtype, "expected bias in float32, got float64");
  refused([](AttentionProblem& p) { p.rule.window = -1; }, config,
          "expected a window of 0 (none) or more, got -1");
  refused([](AttentionProblem& p) { p.rule.sinks = -2; }, config,
          "expected 0 or more sinks, got -2");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
