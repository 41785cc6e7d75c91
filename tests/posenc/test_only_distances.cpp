// The mask of listed distances.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/base/text.h"
#include "posenc/score_tables.h"
#include "tests/support/golden_attention.h"
#include "tests/support/random_tensor.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_only_distances)  // ctest: on_cuda
namespace {

using golden_attention::check_case;

constexpr int64_t kHeads = 2;

bool is_in(const std::vector<int64_t>& distances, int64_t d) {
  return std::find(distances.begin(), distances.end(), d) != distances.end();
}

// Probabilities [H][n_query][n] of heads in dtype: the output for values that are unit vectors.
std::vector<double> probabilities(const std::string& expression, int64_t n_query, int64_t n,
                                  DType dtype) {
  const Composition c(
      expression,
      {.n_head = kHeads, .head_dim = n, .d_model = kHeads * n, .dtype = accumulate_dtype(dtype)});
  std::vector<double> qkv = random_tensor({1, n, 3 * kHeads * n}, 1).to_vector();
  for (int64_t i = 0; i < n * 3 * kHeads * n; ++i)  // token, head, q or k or v, component
    if (i / n % 3 == 2) qkv[static_cast<size_t>(i)] = i % n == i / n / 3 / kHeads ? 1 : 0;
  const Rotation rotation = c.plan(n, n, Phase::train).layers[0].rotation;
  const Heads heads =
      split_heads(Tensor::from(qkv, {1, n, 3 * kHeads * n}, dtype), kHeads, rotation);
  const ScoreRule last = c.plan(n_query, n, Phase::train).layers[0].rule;
  const Tensor out = attention(slice(heads.q, 2, n - n_query, n), heads.k, heads.v, last);
  return permute(reshape(out, {n_query, kHeads, n}), {1, 0, 2}).to_vector();
}

// P under the mask is P without it, taken at the listed distances and divided by what is left.
void check_against_unmasked(const std::string& other, const std::vector<int64_t>& distances,
                            int64_t n_query, int64_t n) {
  const std::string mask = concat("only_distances([", joined(distances, ", "), "])");
  const std::vector<double> all = probabilities(other, n_query, n, DType::f64),
                            got = probabilities(other + " + " + mask, n_query, n, DType::f64);
  for (int64_t row = 0; row < kHeads * n_query; ++row) {
    const int64_t m = n - n_query + row % n_query;
    const auto at = [&](int64_t key) { return static_cast<size_t>(row * n + key); };
    double sum = 0;
    for (int64_t key = 0; key <= m; ++key)
      if (is_in(distances, m - key)) sum += all[at(key)];
    for (int64_t key = 0; key < n; ++key)
      if (is_in(distances, m - key))
        BOOST_TEST(std::abs(got[at(key)] - all[at(key)] / sum) < 1e-13, other);
      else
        BOOST_TEST(got[at(key)] == 0, other << ": " << m << " sees " << key);
  }
}

BOOST_AUTO_TEST_CASE(probabilities_are_those_of_the_listed_keys_alone) {
  for (const char* other : {"none", "rope", "alibi", "kerple_log + rope", "fire", "gauss_wht1",
                            "interpolation(scale=2) + rope", "xpos"})
    for (const int64_t n_query : {1, 5, 24}) check_against_unmasked(other, {0, 3, 17}, n_query, 24);
  check_against_unmasked("rope + alibi", {0, 100, 129}, 140, 140);
}

// Whole tiles of keys are hidden, before and after those that are seen.
BOOST_AUTO_TEST_CASE(hidden_keys_have_probability_zero_in_every_precision) {
  const std::vector<int64_t> distances = {0, 201};
  const int64_t n = 230;
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
    const std::vector<double> p = probabilities("only_distances([0, 201])", n, n, dtype);
    int64_t n_wrong = 0;
    for (int64_t i = 0; i < kHeads * n * n; ++i) {
      const double x = p[static_cast<size_t>(i)];
      n_wrong += is_in(distances, i / n % n - i % n) ? !(x > 0 && x <= 1) : x != 0;
    }
    BOOST_TEST(n_wrong == 0, dtype);
  }
}

BOOST_AUTO_TEST_CASE(all_near_distances_are_a_window) {
  check_case("window", "only_distances([0, 1, 2])");
  check_case("window_alibi", "only_distances([0, 1, 2]) + alibi");
  check_case("window_alibi", "alibi + window(3) + only_distances([0, 1, 2, 5])");
}

BOOST_AUTO_TEST_CASE(two_masks_intersect) {
  const Composition c("only_distances([0, 2, 4, 6]) + only_distances([0, 3, 4, 6]) + window(6)",
                      model_of(1));
  const ScoreRule rule = rule_of(c, 9);
  const ScoreTables tables = score_tables(rule, 1, 9, 9, 8);
  for (int64_t d = 0; d < 9; ++d)
    BOOST_TEST(tables.bias_at(0, d) == (d == 0 || d == 4 ? 0 : -HUGE_VAL));
  BOOST_TEST(hides_by_table(rule));
  BOOST_TEST(!hides_by_table(rule_of(Composition("alibi + window(3)", model_of(1)), 9)));
}

// Positions may move: the mask counts tokens.
BOOST_AUTO_TEST_CASE(distances_are_tokens_whatever_the_positions_are) {
  const Tensor want = rule_of(Composition("only_distances([0, 4])", model_of(2)), 12).bias;
  for (const char* remap :
       {"interpolation(scale=2)", "randomized", "shifted", "rope_linear(scale=4)"})
    BOOST_TEST(all_close(
        rule_of(Composition(concat("only_distances([0, 4]) + ", remap), model_of(2)), 12).bias,
        want, Tolerance(0)));
  BOOST_TEST(error_of([] {
               rule_of(Composition("only_distances([0, 4]) + block_repeat(2)", model_of(2)), 12);
             }) ==
             "[posenc] only_distances(distances=[0,4]): expected no remap beside it that looks "
             "tables up by positions");
}

BOOST_AUTO_TEST_CASE(a_mask_is_of_the_layers_that_are_named) {
  const Composition c("only_distances([0, 4])@1 + alibi", model_of(2));
  const auto plan = c.plan(9, 9, Phase::eval);
  for (const size_t layer : {0, 1, 2})
    BOOST_TEST(hides_by_table(plan.layers[layer].rule) == (layer == 1));
  BOOST_TEST(c.canonical() == "alibi + only_distances(distances=[0,4])@1");
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const auto error = [](const char* expression) {
    return error_of_expression(expression, model_of(2));
  };
  BOOST_TEST(error("only_distances([3, 5])") ==
             "[posenc] only_distances(distances): expected 0, the query itself, as the first "
             "distance, got 3 at column 16\n"
             "  only_distances([3, 5])\n"
             "                 ^");
  BOOST_TEST(error("only_distances([0, 5, 5])")
                 .find("expected rising distances, got 5 before 5 at column 16") !=
             std::string::npos);
  BOOST_TEST(error("only_distances").find("[posenc] only_distances needs distances, a list") == 0u);
  BOOST_TEST(error("only_distances([0, 3]) + log_n") ==
             "[posenc] expected no log_n(mode=clipped, train_len=16) beside "
             "only_distances(distances=[0,3]): it counts the keys that windows show, and this is "
             "no window at column 26\n"
             "  only_distances([0, 3]) + log_n\n"
             "                           ^");
  for (const char* other : {"relu_attention", "rerope", "self_extend"})
    BOOST_TEST(error(concat(other, " + only_distances([0, 3])").c_str())
                   .find(concat("[posenc] expected no ", other)) == 0u);
  BOOST_TEST(error("only_distances([0, 3])@0 + log_n@1..2") == "");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
