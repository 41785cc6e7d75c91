// Attention with landmarks: softmax by groups.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/attention_problem.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_attention_landmark)  // ctest: on_cuda:slow
namespace {

using test::AttentionProblem;
using test::run;
using test::Sizes;

const DType kFloats[] = {DType::f64, DType::f32, DType::bf16};

AttentionRule with_blocks_of(int64_t block) {
  AttentionRule rule;
  rule.normalizer = {.kind = Normalizer::Kind::landmark, .block = block};
  return rule;
}
AttentionProblem problem(const Sizes& sizes, int64_t block, DType dtype) {
  AttentionProblem p = test::make_problem(sizes, dtype);
  p.rule.normalizer = with_blocks_of(block).normalizer;
  return p;
}

Tensor column(const std::vector<double>& x) {
  return Tensor::from(x, {1, 1, static_cast<int64_t>(x.size()), 1}, DType::f64);
}
// The last query, 1, over keys that are the scores, and values.
double last_output(const std::vector<double>& scores, const std::vector<double>& values,
                   int64_t block) {
  return attention(column({1}), column(scores), column(values), with_blocks_of(block)).item();
}
bool is_near(double got, double want) { return std::abs(got - want) < 1e-13; }

// Two tokens and a landmark, twice: exponentials 1 3 | 2, 5 7 | 4, and then 6.
const double kLog2 = std::log(2), kLog3 = std::log(3), kLog4 = std::log(4), kLog5 = std::log(5),
             kLog6 = std::log(6), kLog7 = std::log(7);
const std::vector<double> kScores{0, kLog3, kLog2, kLog5, kLog7, kLog4, kLog6};

double output_of(size_t n_key, const std::vector<double>& values) {
  return last_output({kScores.begin(), kScores.begin() + static_cast<std::ptrdiff_t>(n_key)},
                     {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n_key)}, 2);
}

BOOST_AUTO_TEST_CASE(weights_by_hand) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  // A value of 1 shows the weight of its key.
  const auto weight = [&](size_t n_key, size_t of) {
    std::vector<double> values(n_key);
    values[of] = 1;
    return output_of(n_key, values);
  };
  // In the first block: its tokens, one softmax.
  BOOST_TEST(is_near(weight(2, 0), 1. / 4));
  // In the second: landmark 2 of the first beside its own tokens 5, then 5 and 7.
  BOOST_TEST(is_near(weight(4, 0), 2. / 7 * 1 / 4));
  BOOST_TEST(is_near(weight(4, 1), 2. / 7 * 3 / 4));
  BOOST_TEST(is_near(weight(4, 3), 5. / 7));
  BOOST_TEST(is_near(weight(5, 1), 2. / 14 * 3 / 4));
  BOOST_TEST(is_near(weight(5, 4), 7. / 14));
  // In the third: landmarks 2 and 4, and 6 itself.
  BOOST_TEST(is_near(weight(7, 1), 2. / 12 * 3 / 4));
  BOOST_TEST(is_near(weight(7, 3), 4. / 12 * 5 / 12));
  BOOST_TEST(is_near(weight(7, 6), 6. / 12));
  for (const size_t landmark : {2, 5}) BOOST_TEST(weight(7, landmark) == 0);
  BOOST_TEST(std::isnan(output_of(7, {nan, 0, 0, 0, 0, 0, 0})));
}

// A query at a landmark sees what its block's last token sees, and not itself.
BOOST_AUTO_TEST_CASE(a_landmark_does_not_see_itself) {
  BOOST_TEST(is_near(output_of(3, {1, 10, 1e6}), (1 + 30) / 4.));
  BOOST_TEST(is_near(output_of(6, {0, 0, 1e6, 10, 1, 1e6}), (50 + 7) / 14.));
}

BOOST_AUTO_TEST_CASE(every_combination_of_tables_equals_the_reference) {
  for (const DType dtype : kFloats)
    for (const int64_t block : {1, 4, 50, 1000})
      for (int mask = 0; mask < 16; ++mask) {
        const Sizes s = mask % 3 == 0 ? Sizes{2, 1, 40, 71, 12} : Sizes{1, 2, 91, 91, 8};
        AttentionProblem p = problem(s, block, dtype);
        if (mask & 1) p.add_bias();
        if (mask & 2) p.add_weight();
        if (mask & 4) p.add_row_scale();
        if (mask & 8) p.rule.dropout = {.p = 0.5, .random = {3, 5}};
        test::compare(p, concat("blocks of ", block, ' ', s, " options ", mask));
      }
}

BOOST_AUTO_TEST_CASE(lengths_around_a_block_equal_the_reference) {
  for (const DType dtype : kFloats)
    for (const int64_t keys : {1, 2, 7, 8, 9, 15, 16, 17})
      for (const int64_t queries : {keys, int64_t{1}}) {
        const Sizes s{1, 1, queries, keys, 5};
        test::compare(problem(s, 7, dtype), concat(s));
      }
}

// Ids that wait and jump: of all sequences, and of each its own.
BOOST_AUTO_TEST_CASE(tables_by_ids_equal_the_reference) {
  for (const DType dtype : kFloats)
    for (const int64_t n_batch : {1, 2}) {
      AttentionProblem p = problem({2, 2, 30, 41, 8}, 6, dtype);
      std::vector<int32_t> ids;
      for (int32_t b = 0; b < n_batch; ++b)
        for (int32_t n = 0; n < 41; ++n) ids.push_back(n / (2 + b) + (n > 20 ? 9 : 0));
      p.rule.ids = Tensor::from(ids, n_batch == 1 ? Shape{41} : Shape{2, 41});
      p.add_bias(60);
      p.add_weight(60);
      test::compare(p, concat("ids of ", n_batch));
    }
}

BOOST_AUTO_TEST_CASE(gradients_equal_central_differences) {
  for (const int64_t block : {1, 2, 3, 20}) {
    AttentionProblem p = problem({2, 2, 7, 11, 3}, block, DType::f64);
    p.add_bias();
    p.add_weight();
    p.add_row_scale();
    test::check_differences(p);
  }
}

BOOST_AUTO_TEST_CASE(the_weights_of_a_row_add_up_to_one) {
  for (const int64_t block : {1, 3, 8, 64}) {
    AttentionProblem p = problem({1, 2, 60, 60, 4}, block, DType::f64);
    p.add_bias();
    p.heads.v = Tensor::full(p.heads.v.shape(), 1, DType::f64);
    for (const double sum : p().to_vector()) BOOST_TEST(is_near(sum, 1));
  }
}

BOOST_AUTO_TEST_CASE(a_block_longer_than_the_sequence_is_plain_softmax) {
  for (const DType dtype : kFloats)
    for (const int64_t block : {80, 81, 1 << 30}) {
      AttentionProblem p = test::make_problem({2, 2, 80, 80, 8}, dtype);
      p.add_bias();
      const test::Named want = run(p);
      p.rule.normalizer = with_blocks_of(block).normalizer;
      for (const auto& [name, x] : run(p))
        BOOST_TEST(test::relative_error(x.to_vector(), want.at(name).to_vector()) <=
                       test::attention_tolerance(dtype, name),
                   name << ' ' << dtype);
    }
}

// The bias leaves distances 0 and 9 alone: whole blocks are hidden, and their landmarks with them.
BOOST_AUTO_TEST_CASE(hidden_blocks_take_no_weight) {
  for (const DType dtype : kFloats) {
    AttentionProblem p = problem({1, 2, 40, 40, 8}, 3, dtype);
    test::hide_all_but(p, {0, 4, 9});
    test::compare(p, "hidden");
    p.rule.bias = Tensor::full({2, 40}, -std::numeric_limits<double>::infinity(), p.acc());
    for (const auto& [name, x] : run(p))
      for (const double y : x.to_vector()) BOOST_TEST(y == 0, name << ' ' << dtype);
  }
}

BOOST_AUTO_TEST_CASE(large_scores_do_not_overflow) {
  for (const DType dtype : {DType::f64, DType::f32}) {
    AttentionProblem p = problem({1, 1, 30, 30, 8}, 4, dtype);
    p.rule.row_scale = Tensor::full({30}, 300, p.acc());
    for (const auto& [name, x] : run(p))
      for (const double y : x.to_vector()) BOOST_TEST(std::isfinite(y), name << ' ' << dtype);
  }
}

BOOST_AUTO_TEST_CASE(a_nan_shows) {
  for (const char* where : {"q", "k", "v"}) {
    AttentionProblem p = problem({1, 1, 30, 30, 8}, 4, DType::f32);
    test::for_each_input(p, [&](const std::string& name, Tensor& x) {
      if (name == where) x.data<float>()[20 * 8] = std::numeric_limits<float>::quiet_NaN();
    });
    BOOST_TEST(std::isnan(p().to_vector()[20 * 8]), where);
    if (*where != 'q') BOOST_TEST(std::isnan(p().to_vector()[29 * 8]), where);
  }
}

BOOST_AUTO_TEST_CASE(results_do_not_depend_on_the_number_of_threads) {
  AttentionProblem p = problem({2, 3, 100, 130, 16}, 9, DType::f32);
  p.add_bias();
  p.add_weight();
  test::check_threads(p);
}

BOOST_AUTO_TEST_CASE(working_memory_is_linear_in_the_length) {
  if (test::is_on_cuda()) return;  // takes minutes on the emulation
  int64_t extra[2] = {};
  for (const int i : {0, 1}) {
    const int64_t length = i ? 512 : 256;
    const AttentionProblem p = problem({1, 1, length, length, 8}, 15, DType::f32);
    run(p);
    reset_peak_memory(Device{});
    const int64_t before = memory_stats(Device{}).current_bytes;
    run(p);
    extra[i] = memory_stats(Device{}).peak_bytes - before;
  }
  BOOST_TEST(extra[1] < 3 * extra[0]);  // a [T, S] matrix would make it four times
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const auto refused = [](const auto& change, const char* text) {
    AttentionProblem p = problem({1, 1, 3, 3, 4}, 2, DType::f32);
    change(p);
    BOOST_CHECK_EXCEPTION(p(), ConfigError, says_exactly(text));
  };
  refused([](auto& p) { p.rule.normalizer.block = 0; },
          "[attention] expected a normalizer.block of 1 token or more for landmark, got 0");
  const char* const alone = "[attention] expected no window, far pairs or row bias beside landmark";
  refused([](auto& p) { p.rule.window = 2; }, alone);
  refused([](auto& p) { p.rule.switch_distance = 1; }, alone);
  refused([](auto& p) { test::add_row_bias(p, test::kKnots); }, alone);
  refused([](auto& p) { p.rule.normalizer.penalty = 1; },
          "[attention] expected a normalizer.penalty for relu kinds alone");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
