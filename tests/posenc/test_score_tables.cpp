// Against the attention op itself: with q = 0 the scores of a query are its bias, and with values
// that tell keys apart the output is the softmax of what the tables say.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/ops.h"
#include "engine/ops/attention.h"
#include "posenc/score_tables.h"
#include "tests/support/all_close.h"
#include "tests/support/random_tensor.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_score_tables)  // ctest: on_cuda
namespace {

constexpr int64_t kHeads = 2, kKeys = 12, kWidth = 12;  // v is the identity

posenc::Composition encoding_of(const std::string& expression) {
  return {expression,
          {.n_head = kHeads,
           .head_dim = kWidth,
           .d_model = kHeads * kWidth,
           .n_layer = 1,
           .train_len = 8,
           .seed = 3,
           .dtype = DType::f64}};
}

// Probabilities of the last query, [H][S] from the key at distance 0 on, with q.k/sqrt(K) = c.
std::vector<double> by_the_op(const AttentionRule& rule, double c) {
  const Shape keys{1, kHeads, kKeys, kWidth};
  Tensor v = Tensor::zeros(keys, DType::f64), k = Tensor::zeros(keys, DType::f64);
  for (int64_t h = 0; h < kHeads; ++h)
    for (int64_t n = 0; n < kKeys; ++n) {
      v.data<double>()[(h * kKeys + n) * kWidth + n] = 1;
      k.data<double>()[(h * kKeys + n) * kWidth] = c * std::sqrt(double{kWidth});
    }
  Tensor q = Tensor::zeros({1, kHeads, 1, kWidth}, DType::f64);
  for (int64_t h = 0; h < kHeads; ++h) q.data<double>()[h * kWidth] = 1;
  std::vector<double> out = attention(q, k, v, rule).to_vector();
  for (int64_t h = 0; h < kHeads; ++h)
    std::reverse(out.begin() + h * kKeys, out.begin() + (h + 1) * kKeys);
  return out;
}

std::vector<double> by_the_tables(const ScoreTables& tables, double c) {
  std::vector<double> all;
  for (int64_t h = 0; h < kHeads; ++h) {
    std::vector<double> row;
    double sum = 0;
    for (int64_t d = 0; d < kKeys; ++d) {
      row.push_back(std::exp(c * tables.weight_at(h, d) + tables.bias_at(h, d)));
      sum += row.back();
    }
    for (const double x : row) all.push_back(x / sum);
  }
  return all;
}

void check_against_the_op(const AttentionRule& rule, const std::string& what) {
  const ScoreTables tables = score_tables(rule, kHeads, kKeys);
  for (const double c : {0.0, 0.7})
    BOOST_TEST(all_close(by_the_tables(tables, c), by_the_op(rule, c), Tolerance(1e-13)), what);
}

BOOST_AUTO_TEST_CASE(the_tables_are_what_the_attention_op_does) {
  for (const char* expression :
       {"none", "alibi", "kerple_log", "sandwich", "window(4)", "alibi + window(5) + kerple_log"}) {
    const posenc::Composition c = encoding_of(expression);
    check_against_the_op(c.plan(1, kKeys, posenc::Phase::eval).layers[0].rule, expression);
  }
  AttentionRule rule;
  rule.weight = random_tensor({kHeads, kKeys}, 5);
  rule.bias = random_tensor({kHeads, kKeys}, 6);
  rule.window = 3;
  rule.sinks = 2;
  check_against_the_op(rule, "weight, bias, window and sinks");
}

BOOST_AUTO_TEST_CASE(an_absent_table_is_zero_or_one_and_a_mask_is_minus_infinity) {
  const ScoreTables tables = score_tables(
      encoding_of("window(4)").plan(1, kKeys, posenc::Phase::eval).layers[0].rule, kHeads, kKeys);
  BOOST_TEST(tables.has_bias);
  BOOST_TEST(!tables.has_weight);
  BOOST_TEST(tables.bias_at(1, 3) == 0);
  BOOST_TEST(tables.bias_at(1, 4) == -INFINITY);
  BOOST_TEST(tables.weight_at(1, 11) == 1);
  BOOST_TEST(!score_tables({}, kHeads, kKeys).has_bias);
}

BOOST_AUTO_TEST_CASE(remapped_and_far_pairs_read_their_own_entries) {
  const auto ints = [](std::vector<int32_t> values) {
    return Tensor::from(std::span<const int32_t>(values), {static_cast<int64_t>(values.size())});
  };
  AttentionRule rule;
  rule.bias = Tensor::from({0, -1, -2, -3, -4, -5, -6, -7}, {1, 8}, DType::f64);
  rule.ids = ints({0, 0, 1, 1, 2, 2});
  const auto row = [&] {
    const ScoreTables tables = score_tables(rule, 1, 6);
    return std::vector<double>(tables.bias.begin(), tables.bias.end());
  };
  BOOST_TEST(row() == (std::vector<double>{0, 0, -1, -1, -2, -2}),
             boost::test_tools::per_element());
  rule.ids = {};
  rule.switch_distance = 3;
  rule.far_ids_q = ints({7});
  rule.far_ids_k = ints({0, 1, 2, 3, 4, 5});
  BOOST_TEST(row() == (std::vector<double>{0, -1, -2, -5, -6, -7}),
             boost::test_tools::per_element());
  rule.switch_position = 6;  // the query is at 5: near only
  BOOST_TEST(row() == (std::vector<double>{0, -1, -2, -3, -4, -5}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(layers_with_the_same_tables_are_joined) {
  Config config = encoding_of("alibi").config();
  config.n_layer = 4;
  const auto layers_of = [&](const std::string& expression) {
    std::vector<std::vector<int64_t>> all;
    for (const LayerTables& group :
         layer_tables(Composition(expression, config), kKeys, SameTables::bias_and_weight))
      all.push_back(group.layers);
    return all;
  };
  using Layers = std::vector<std::vector<int64_t>>;
  BOOST_TEST((layers_of("alibi") == Layers{{0, 1, 2, 3}}));
  BOOST_TEST((layers_of("hwfa") == Layers{{0, 1, 2}, {3}}));
  BOOST_TEST(text_of_layers({3}) == "layer 3");
  BOOST_TEST(text_of_layers({0, 1, 2, 5}) == "layers 0-2, 5");
  BOOST_TEST(text_of_layers({0, 2}) == "layers 0, 2");
}

BOOST_AUTO_TEST_CASE(a_query_in_the_middle_reads_what_is_before_it) {
  const posenc::Composition c = encoding_of("alibi(slopes=[1,2]) + window(3)");
  const AttentionRule rule = c.plan(5, 8, posenc::Phase::eval).layers[0].rule;
  const ScoreTables tables = score_tables(rule, kHeads, 5, 8, 3);
  BOOST_TEST(tables.bias == (std::vector<double>{0, -1, -2, -INFINITY, 0, -2, -4, -INFINITY}),
             boost::test_tools::per_element());
  BOOST_TEST(score_tables(rule, kHeads, 5, 8, 7).n_key == 8);
}

BOOST_AUTO_TEST_CASE(a_bias_that_depends_on_the_row_is_evaluated_at_the_query) {
  AttentionRule rule;
  rule.row_bias.feature = Tensor::from({0, 1, 2, 3}, {4}, DType::f64);
  rule.row_bias.row_factor = Tensor::from({9, 0.5}, {2}, DType::f64);
  rule.row_bias.knots = Tensor::from({0.75}, {1}, DType::f64);
  rule.row_bias.slope = Tensor::from({-2, 4}, {1, 2}, DType::f64);  // meets at 0.75
  rule.row_bias.offset = Tensor::from({1, -3.5}, {1, 2}, DType::f64);
  const ScoreTables tables = score_tables(rule, 1, 2, 4, 3);
  BOOST_TEST(tables.has_bias);
  BOOST_TEST(tables.bias == (std::vector<double>{1, 0, 0.5, 2.5}),
             boost::test_tools::per_element());
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
