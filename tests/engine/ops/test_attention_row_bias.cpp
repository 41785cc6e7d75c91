// Attention with a bias that depends on the query's position too.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/attention_problem.h"
#include "tests/support/golden.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_attention_row_bias)  // ctest: on_cuda:slow
namespace {

using test::add_row_bias;
using test::AttentionProblem;
using test::kKnots;
using test::run;
using test::Sizes;

const DType kFloats[] = {DType::f64, DType::f32, DType::bf16};

BOOST_AUTO_TEST_CASE(segments_by_hand) {
  // x = 2 * 0.5 = 1 at distance 1, in the second segment: 3 * 1 - 2 = 1; 0 at distance 0: 0 + 0.
  // Scores 1 * 3 - 2 + 1 = 2 and 1 * 2 = 2: halves.
  AttentionRule rule;
  rule.bias = Tensor::from({0, -2}, {1, 2}, DType::f64);
  rule.row_bias.feature = Tensor::from({0, 2}, {2}, DType::f64);
  rule.row_bias.row_factor = Tensor::from({0.5}, {1}, DType::f64);
  rule.row_bias.knots = Tensor::from({0.8}, {1}, DType::f64);
  rule.row_bias.slope = Tensor::from({0.5, 3}, {1, 2}, DType::f64);
  rule.row_bias.offset = Tensor::from({0, -2}, {1, 2}, DType::f64);
  const Tensor out = attention(Tensor::from({1}, {1, 1, 1, 1}, DType::f64),
                               Tensor::from({3, 2}, {1, 1, 2, 1}, DType::f64),
                               Tensor::from({10, 20}, {1, 1, 2, 1}, DType::f64), rule);
  BOOST_TEST(std::abs(out.item() - 15) < 1e-13);
}

BOOST_AUTO_TEST_CASE(every_combination_of_options_equals_the_reference) {
  for (const DType dtype : kFloats)
    for (int mask = 0; mask < 16; ++mask)
      for (const auto& [window, sinks] :
           {std::pair<int64_t, int64_t>{0, 0}, {37, 0}, {37, 3}, {100, 110}})
        for (const Sizes& s : {Sizes{1, 2, 211, 211, 8}, Sizes{2, 1, 70, 130, 5}}) {
          AttentionProblem p = test::make_problem(s, dtype);
          add_row_bias(p, kKnots);
          if (mask & 1) p.add_bias();
          if (mask & 2) p.add_weight();
          if (mask & 4) p.add_row_scale();
          if (mask & 8) {
            p.add_far_heads();
            p.rule.switch_distance = 20;
          }
          p.rule.window = window;
          p.rule.sinks = sinks;
          test::compare(p, concat(s, " mask ", mask, " window ", window, " sinks ", sinks));
        }
}

BOOST_AUTO_TEST_CASE(every_number_of_knots_and_length_equals_the_reference) {
  for (const DType dtype : kFloats) {
    for (const size_t n : {0, 1, 2, 7, 32, 63})
      for (const Sizes& s : {Sizes{2, 3, 190, 190, 16}, Sizes{1, 1, 1, 1, 3}, Sizes{1, 1, 1, 97, 3},
                             Sizes{1, 1, 2, 289, 3}, Sizes{1, 1, 700, 700, 16}}) {
        std::vector<double> knots;
        for (size_t i = 0; i < n; ++i)
          knots.push_back((static_cast<double>(i) + 0.4371) / static_cast<double>(n));
        AttentionProblem p = test::make_problem(s, dtype);
        add_row_bias(p, knots);
        test::compare(p, concat(s, ' ', n, " knots"));
      }
  }
}

BOOST_AUTO_TEST_CASE(tables_read_by_ids_beside_it_equal_the_reference) {
  for (const DType dtype : kFloats) {
    AttentionProblem p = test::make_problem({1, 2, 150, 211, 8}, dtype);
    add_row_bias(p, kKnots);
    std::vector<int32_t> ids;
    for (int32_t n = 0; n < 211; ++n) ids.push_back(n / 3);
    p.rule.ids = Tensor::from(ids, {211});
    p.add_bias(71);
    p.add_weight(71);
    test::compare(p, "with ids");
  }
}

BOOST_AUTO_TEST_CASE(equal_features_are_one_run) {
  for (const DType dtype : kFloats) {
    AttentionProblem p = test::make_problem({1, 2, 150, 211, 8}, dtype);
    add_row_bias(p, kKnots);
    std::vector<double> feature = p.rule.row_bias.feature.to_vector();
    for (size_t d = 0; d < feature.size(); ++d) feature[d] = feature[d / 40 * 40];
    p.rule.row_bias.feature = Tensor::from(feature, {211}, p.acc());
    test::compare(p, "with steps");
  }
}

BOOST_AUTO_TEST_CASE(a_linear_function_is_a_table_times_a_row_scale) {
  // Without knots and with row factors 1 it is slope feature[d] + offset: a bias table.
  AttentionProblem p = test::make_problem({1, 2, 150, 150, 8}, DType::f64);
  add_row_bias(p, {});
  p.rule.row_bias.row_factor = Tensor::full({150}, 1, DType::f64);
  AttentionProblem q = p;
  q.rule.row_bias = {};
  const std::vector<double> feature = p.rule.row_bias.feature.to_vector(),
                            slope = p.rule.row_bias.slope.to_vector();
  std::vector<double> bias;
  for (size_t h = 0; h < 2; ++h)
    for (const double x : feature) bias.push_back(slope[h] * x + 0.25);
  q.rule.bias = Tensor::from(bias, {2, 150}, DType::f64);
  const test::Named a = run(p), b = run(q);
  BOOST_TEST(test::relative_error(a.at("out").to_vector(), b.at("out").to_vector()) < 1e-14);
  const std::vector<double> dbias = b.at("dbias").to_vector();
  double doffset = 0, dslope = 0;
  for (size_t d = 0; d < 150; ++d) {
    doffset += dbias[d];
    dslope += dbias[d] * feature[d];
  }
  BOOST_TEST(std::abs(a.at("doffset").to_vector()[0] - doffset) < 1e-12);
  BOOST_TEST(std::abs(a.at("dslope").to_vector()[0] - dslope) < 1e-12);
}

BOOST_AUTO_TEST_CASE(results_do_not_depend_on_the_number_of_threads) {
  for (const DType dtype : kFloats)
    for (const Sizes& s : {Sizes{1, 3, 900, 900, 16}, Sizes{5, 2, 128, 128, 20}}) {
      AttentionProblem p = test::make_problem(s, dtype);
      add_row_bias(p, kKnots);
      p.add_weight();
      test::check_threads(p);
    }
}

BOOST_AUTO_TEST_CASE(gradients_equal_central_differences) {
  AttentionProblem p = test::make_problem({2, 2, 7, 9, 3}, DType::f64);
  add_row_bias(p, {0.11, 0.27, 0.4});
  p.add_bias();
  p.add_weight();
  p.add_row_scale();
  p.rule.window = 6;
  p.rule.sinks = 1;
  test::check_differences(p);
}

BOOST_AUTO_TEST_CASE(gradients_that_nobody_wants_are_left_out) {
  AttentionProblem p = test::make_problem({1, 2, 120, 120, 8}, DType::f32);
  add_row_bias(p, kKnots);
  const test::Named all = run(p), none = run(p, test::TableNames());
  BOOST_TEST(!none.contains("dslope"));
  for (const auto& [name, x] : none) BOOST_TEST(test::same_or_absent(x, all.at(name)), name);
  AttentionProblem one = p;
  one.rule.row_bias.offset = p.rule.row_bias.offset.clone();
  one.rule.row_bias.offset.set_requires_grad();
  backward(one(), p.dout);
  BOOST_TEST(test::same_or_absent(one.rule.row_bias.offset.grad(), all.at("doffset")));
}

BOOST_AUTO_TEST_CASE(working_memory_is_linear_in_the_length) {
  int64_t extra[2] = {};
  for (const int i : {0, 1}) {
    const int64_t length = i ? 2048 : 1024;
    AttentionProblem p = test::make_problem({1, 1, length, length, 8}, DType::f32);
    add_row_bias(p, kKnots);
    const test::Named first = run(p);
    reset_peak_memory({});
    const int64_t before = memory_stats({}).current_bytes;
    run(p);
    extra[i] = memory_stats({}).peak_bytes - before;
  }
  BOOST_TEST(extra[1] < 3 * extra[0]);  // a [T, S] matrix would make it four times
  BOOST_TEST(extra[1] < 2048 * 2048);
}

// --- golden case: FIRE, bias and gradients of its last layer ---

BOOST_AUTO_TEST_CASE(the_golden_case_of_fire_is_met) {
  using Json = nlohmann::json;
  const Json& file = test::golden("attention.json");
  const Json& golden = *std::find_if(file.at("cases").begin(), file.at("cases").end(),
                                     [](const Json& c) { return c.at("name") == "fire"; });
  const int64_t heads = file.at("heads"), length = file.at("length"),
                head_dim = file.at("head_dim");
  const Json& config = golden.at("config");
  const auto numbers = [&](const char* key) { return test::golden_numbers(config.at(key)); };
  const std::vector<double> w1 = numbers("W1"), b1 = numbers("b1"), w2 = numbers("W2"),
                            b2 = numbers("b2");
  const size_t width = w1.size();
  const double c = config.at("c"), threshold = config.at("L_init");

  // The knots of max(0, w1 x + b1), and which units are on in each segment.
  std::vector<double> knots;
  for (size_t u = 0; u < width; ++u) knots.push_back(-b1[u] / w1[u]);
  std::sort(knots.begin(), knots.end());
  const auto is_on = [&](size_t s, size_t u) {
    const double inside = s == 0       ? knots[0] - 1
                          : s == width ? knots[width - 1] + 1
                                       : (knots[s - 1] + knots[s]) / 2;
    return w1[u] * inside + b1[u] > 0;
  };
  std::vector<double> feature, factor, slope, offset;
  for (int64_t x = 0; x < length; ++x) {
    const auto at = static_cast<double>(x);
    feature.push_back(std::log(c * at + 1));
    factor.push_back(1 /
                     (std::log(c * std::max(at, threshold) + 1) + config.at("eps").get<double>()));
  }
  for (size_t h = 0; h < static_cast<size_t>(heads); ++h)
    for (size_t s = 0; s <= width; ++s) {
      slope.push_back(0);
      offset.push_back(b2[h]);
      for (size_t u = 0; u < width; ++u)
        if (is_on(s, u)) {
          slope.back() += w2[h * width + u] * w1[u];
          offset.back() += w2[h * width + u] * b1[u];
        }
    }

  for (const DType dtype : kFloats) {
    // [H, L, K] to [1, L, H, K] and back
    const auto turned = [&](const std::vector<double>& x, bool by_head) {
      std::vector<double> y(x.size());
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t m = 0; m < length; ++m)
          for (int64_t k = 0; k < head_dim; ++k) {
            const auto one = static_cast<size_t>((h * length + m) * head_dim + k);
            const auto other = static_cast<size_t>((m * heads + h) * head_dim + k);
            by_head ? y[one] = x[other] : y[other] = x[one];
          }
      return y;
    };
    AttentionProblem p;
    const auto head_input = [&](const char* key) {
      return Tensor::from(test::golden_numbers(file.at(key)), {1, heads, length, head_dim}, dtype);
    };
    p.heads = {head_input("q"), head_input("k"), head_input("v")};
    p.dout = Tensor::from(turned(test::golden_numbers(file.at("dout")), false),
                          {1, length, heads * head_dim}, dtype);
    const Shape segments{heads, static_cast<int64_t>(width) + 1};
    RowBias& bias = p.rule.row_bias;
    bias.feature = Tensor::from(feature, {length}, p.acc());
    bias.row_factor = Tensor::from(factor, {length}, p.acc());
    bias.knots = Tensor::from(knots, {static_cast<int64_t>(width)}, p.acc());
    bias.slope = Tensor::from(slope, segments, p.acc());
    bias.offset = Tensor::from(offset, segments, p.acc());
    const test::Named got = run(p);
    const auto check = [&](const char* name, const std::vector<double>& x,
                           const std::vector<double>& want) {
      const double e = test::relative_error(x, want);
      BOOST_CHECK_MESSAGE(e <= test::attention_tolerance(dtype, name),
                          name << ' ' << dtype << " is off by " << e);
    };
    check("out", turned(got.at("out").to_vector(), true), test::golden_numbers(golden.at("out")));
    for (const char* name : {"dq", "dk", "dv"})
      check(name, got.at(name).to_vector(), test::golden_numbers(golden.at(name)));
    // d b2 = sum of d offset; d w2 = sum over the segments where the unit is on.
    const std::vector<double> dslope = got.at("dslope").to_vector(),
                              doffset = got.at("doffset").to_vector();
    std::vector<double> db2(b2.size()), dw2(w2.size());
    for (size_t h = 0; h < b2.size(); ++h)
      for (size_t s = 0; s <= width; ++s) {
        const size_t at = h * (width + 1) + s;
        db2[h] += doffset[at];
        for (size_t u = 0; u < width; ++u)
          if (is_on(s, u)) dw2[h * width + u] += dslope[at] * w1[u] + doffset[at] * b1[u];
      }
    check("doffset", db2, test::golden_numbers(golden.at("dparams").at("b2")));
    check("dslope", dw2, test::golden_numbers(golden.at("dparams").at("W2")));
    // d c by both logarithms; the factor of positions up to the threshold has its own.
    const std::vector<double> dfeature = got.at("dfeature").to_vector(),
                              dfactor = got.at("drow_factor").to_vector();
    double dc = 0;
    for (size_t x = 0; x < feature.size(); ++x) {
      const auto at = static_cast<double>(x), m = std::max(at, threshold);
      dc += dfeature[x] * at / (c * at + 1) - dfactor[x] * factor[x] * factor[x] * m / (c * m + 1);
    }
    check("dfeature", {dc}, test::golden_numbers(Json::array({golden.at("dparams").at("c")})));
  }
}

// --- messages ---

BOOST_AUTO_TEST_CASE(a_row_bias_that_does_not_fit_is_refused) {
  const auto refused = [](auto&& change, auto kind, const char* text) {
    AttentionProblem p = test::make_problem({2, 3, 4, 5, 8}, DType::bf16);
    add_row_bias(p, {0.25, 0.5});
    p();
    change(p.rule.row_bias);
    BOOST_CHECK_EXCEPTION(p(), decltype(kind), says_exactly(text));
  };
  const ShapeError shape("");
  refused([](RowBias& b) { b.knots = {}; }, shape,
          "[attention] expected all five tensors of the row bias or none, got some of them");
  refused([](RowBias& b) { b.feature = {}; }, shape,
          "[attention] expected all five tensors of the row bias or none, got some of them");
  refused([](RowBias& b) { b.feature = Tensor::zeros({4}); }, shape,
          "[attention] expected row_bias.feature of shape [5], got [4]");
  refused([](RowBias& b) { b.row_factor = Tensor::zeros({5}); }, shape,
          "[attention] expected row_bias.row_factor of shape [4], got [5]");
  refused(
      [](RowBias& b) {
        b.slope = Tensor::zeros({3, 2});
      },
      shape, "[attention] expected row_bias.slope of shape [3, 3], got [3, 2]");
  refused(
      [](RowBias& b) {
        b.knots = Tensor::from({0.5, 0.25}, {2});
      },
      shape, "[attention] expected row_bias.knots that do not fall, got 0.5 before 0.25 at 1");
  refused(
      [](RowBias& b) {
        b.feature = Tensor::from({0, 1, 2, 1.5, 3}, {5});
      },
      shape, "[attention] expected row_bias.feature that does not fall, got 2 before 1.5 at 3");
  refused(
      [](RowBias& b) {
        b.row_factor = Tensor::from({1, 0, 1, 1}, {4});
      },
      shape, "[attention] expected row_bias.row_factor above 0, got 0 at 1");
  refused(
      [](RowBias& b) {
        b.offset = Tensor::zeros({3, 3}, DType::f64);
      },
      DTypeError(""), "[attention] expected row_bias.offset in float32, got float64");
}

BOOST_AUTO_TEST_CASE(a_parameter_that_is_not_a_number_is_not_hidden) {
  for (int which = 0; which < 4; ++which) {
    AttentionProblem p = test::make_problem({1, 1, 40, 40, 8}, DType::f32);
    add_row_bias(p, kKnots);
    RowBias& bias = p.rule.row_bias;
    Tensor& x = which == 0   ? bias.feature
                : which == 1 ? bias.row_factor
                : which == 2 ? bias.slope
                             : bias.offset;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::fill(x.data<float>(), x.data<float>() + x.numel(), nan);
    BOOST_TEST(std::isnan(run(p).at("out").to_vector()[20 * 8 + 3]));
  }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
