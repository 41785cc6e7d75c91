// Encodings with a far branch: rerope, leaky_rerope, self_extend, streaming, lm_infinite.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numbers>

#include "tests/support/golden_attention.h"
#include "tests/support/grad_check.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_two_branches)  // ctest: on_cuda
namespace {

using farfield::test::golden;
using Json = nlohmann::json;

constexpr const char* kAll[] = {
    "rerope(4, at=both)", "leaky_rerope(4, k=3, at=both)", "self_extend(3, window=4, at=both)",
    "streaming(2, recent=4, at=both)", "lm_infinite(2, n_local=4, at=both)"};

bool is_visible(const ScoreRule& rule, int64_t m, int64_t n) {
  return rule.window == 0 || m - n < rule.window || n < rule.sinks;
}
bool is_far(const ScoreRule& rule, int64_t m, int64_t n) {
  return rule.switch_distance > 0 && m - n >= rule.switch_distance && m >= rule.switch_position;
}

// The distance that the rotation of a pair amounts to: the difference of its angles over the
// frequency of its slowest pair of components.
double rotated_distance(const Composition::Layer& layer, int64_t m, int64_t n) {
  const Rotation& r = layer.rotation;
  const bool far = is_far(layer.rule, m, n) && r.far.cos_q.defined();
  const int64_t width = r.cos.dim(1);
  const auto angle = [&](const Tensor& cos, const Tensor& sin, int64_t row) {
    const auto last = static_cast<size_t>(row * width + width - 1);
    return std::atan2(sin.to_vector()[last], cos.to_vector()[last]);
  };
  const double turn = (far ? angle(r.far.cos_q, r.far.sin_q, m) : angle(r.cos, r.sin, m)) -
                      (far ? angle(r.far.cos_k, r.far.sin_k, n) : angle(r.cos, r.sin, n));
  return turn / std::pow(10000, -2.0 * static_cast<double>(width - 1) /
                                    (2.0 * static_cast<double>(width)));
}
// The distance of a pair in a table: minus the bias of alibi with slope 1.
double table_distance(const ScoreRule& rule, int64_t m, int64_t n) {
  const bool by_id = is_far(rule, m, n) && rule.far_ids_q.defined();
  const auto id = [](const Tensor& ids, int64_t i) {
    return static_cast<int64_t>(ids.to_vector()[static_cast<size_t>(i)]);
  };
  const int64_t entry = by_id ? id(rule.far_ids_q, m) - id(rule.far_ids_k, n) : m - n;
  return -at_distances(rule.bias, {static_cast<double>(entry)})[0];
}

void check_matrix(const std::string& expression, const Json& distance) {
  const auto size = static_cast<int64_t>(distance.size());
  Config config = model_of(1);
  config.head_dim = config.d_model = 8;
  const Composition c(expression + " + alibi(1)", config);
  const Composition::Layer layer = c.plan(size, size, Phase::eval).layers[0];
  for (int64_t m = 0; m < size; ++m)
    for (int64_t n = 0; n <= m; ++n) {
      const Json& want = distance[static_cast<size_t>(m)][static_cast<size_t>(n)];
      const std::string pair = concat(expression, " at ", m, ", ", n);
      BOOST_TEST(is_visible(layer.rule, m, n) == !want.is_null(), pair);
      if (want.is_null()) continue;
      BOOST_TEST(std::abs(rotated_distance(layer, m, n) - want.get<double>()) < 1e-9, pair);
      BOOST_TEST(std::abs(table_distance(layer.rule, m, n) - want.get<double>()) < 1e-12, pair);
    }
}

BOOST_AUTO_TEST_CASE(distances_equal_the_golden_ones) {
  const Json& file = golden("positions.json");
  const auto number = [&](const char* name, const char* key) { return file[name][key].dump(); };
  check_matrix(concat("rerope(", number("rerope", "w"), ')'), file["rerope"]["distance"]);
  check_matrix(concat("leaky_rerope(", number("leaky_rerope", "w"),
                      ", k=", number("leaky_rerope", "k"), ')'),
               file["leaky_rerope"]["distance"]);
  const std::string self_extend = concat("self_extend(", number("self_extend", "group"),
                                         ", window=", number("self_extend", "window"));
  check_matrix(self_extend + ')', file["self_extend"]["distance"]);
  check_matrix(self_extend + ", shift=real)", file["self_extend"]["distance_real_shift"]);
  check_matrix(concat("streaming(", number("streaming", "sinks"),
                      ", recent=", number("streaming", "recent"), ')'),
               file["streaming"]["distance"]);
  check_matrix(concat("lm_infinite(", number("lambda_mask", "n_global"),
                      ", n_local=", number("lambda_mask", "n_local"), ')'),
               file["lambda_mask"]["distance"]);
}

// Where the group does not divide the window, the two shifts of self_extend differ: far distances
// are floor(m/G) - floor(n/G) + W - W/G, for rotations and tables.
BOOST_AUTO_TEST_CASE(a_real_shift_puts_far_pairs_between_whole_distances) {
  Json distance = Json::array();
  for (int64_t m = 0; m < 20; ++m) {
    Json row = Json::array();
    for (int64_t n = 0; n <= m; ++n)
      row.push_back(m - n < 7 ? static_cast<double>(m - n)
                              : static_cast<double>(m / 3 - n / 3) + 7 - 7.0 / 3);
    distance.push_back(row);
  }
  check_matrix("self_extend(3, window=7, shift=real)", distance);
}

BOOST_AUTO_TEST_CASE(golden_problems_with_their_gradients) {
  using golden_attention::case_named;
  const auto number = [](const char* name, const char* key) {
    return case_named(name)["config"][key].dump();
  };
  const auto check = [&](const char* name, const char* first, const char* second) {
    std::string expression = concat(name, '(', first, '=', number(name, first), ", at=both");
    if (second != nullptr) expression += concat(", ", second, '=', number(name, second));
    golden_attention::check_case(name, expression + ')');
  };
  check("rerope", "w", nullptr);
  check("leaky_rerope", "w", "k");
  check("self_extend", "group", "window");
  check("streaming", "sinks", "recent");
  check("lm_infinite", "n_global", "n_local");
}

// Includes gradients of tables beside them, which no golden problem has.
BOOST_AUTO_TEST_CASE(gradients_equal_central_differences) {
  const int64_t n_head = 2, n = 11, width = 8;
  for (const std::string expression : kAll) {
    const Composition c(expression + " + alibi", model_of(n_head));
    const Composition::Layer layer = c.plan(n, n, Phase::train).layers[0];
    const auto outputs = [&](const std::vector<Tensor>& x) {
      ScoreRule rule = layer.rule;
      rule.bias = x[1];
      rule.weight = x[2];
      const Heads heads = split_heads(x[0], n_head, layer.rotation);
      return std::vector<Tensor>{attention(heads.q, heads.k, heads.v, rule, heads.far)};
    };
    BOOST_TEST(gradients_agree(outputs, {random_tensor({2, n, 3 * n_head * width}, 1),
                                         layer.rule.bias, random_tensor({n_head, n}, 2, 0.5, 1.5)}),
               expression);
  }
}

BOOST_AUTO_TEST_CASE(training_is_plain_rope_unless_asked_otherwise) {
  const Rotation rope =
      Composition("rope", model_of(2)).plan(40, 40, Phase::train).layers[0].rotation;
  for (const std::string name :
       {"rerope", "leaky_rerope", "self_extend", "streaming", "lm_infinite"}) {
    const Composition c(name, model_of(2));  // trained on 16
    const auto [rotation, rule] = c.plan(40, 40, Phase::train).layers[0];
    BOOST_TEST(same_bits(rotation.cos, rope.cos), name);
    BOOST_TEST(!rotation.far.cos_q.defined(), name);
    BOOST_TEST((rule.switch_distance == 0 && rule.window == 0 && !rule.far_ids_q.defined()), name);
    const auto test = c.plan(40, 40, Phase::eval).layers[0];
    BOOST_TEST(same_bits(test.rotation.sin, rope.sin), name);  // of near pairs
    BOOST_TEST(test.rotation.far.cos_q.defined(), name);
    BOOST_TEST(test.rule.switch_distance > 0, name);
    const Composition alibi("alibi + " + name, model_of(2));
    BOOST_TEST(same_bits(rule_of(alibi, 40, Phase::train).bias,
                         rule_of(Composition("alibi", model_of(2)), 40).bias),
               name);
  }
}

// Nothing is far in an input that the near branch covers, and no copies are made for it.
BOOST_AUTO_TEST_CASE(short_inputs_have_no_far_branch) {
  for (const std::string name :
       {"rerope(9)", "leaky_rerope(9)", "self_extend(2, window=9)", "self_extend(window=9)",
        "streaming(2, recent=7)", "lm_infinite(2, n_local=9)"}) {
    const Composition c(name, model_of(2));
    BOOST_TEST(!c.plan(9, 9, Phase::eval).layers[0].rotation.far.cos_q.defined(), name);
    BOOST_TEST(!c.plan(9, 9, Phase::eval).layers[0].rule.far_ids_q.defined(), name);
    const int64_t n = name == "self_extend(window=9)" ? 17 : 10;  // as long as trained on: 16
    BOOST_TEST(c.plan(n, n, Phase::eval).layers[0].rotation.far.cos_q.defined(), name);
  }
}

BOOST_AUTO_TEST_CASE(the_group_grows_with_the_length_until_given) {
  const auto largest = [](int64_t n) {  // table distance of the farthest pair
    const ScoreRule rule = rule_of(Composition("self_extend + alibi(1)", model_of(1)), n);
    return table_distance(rule, n - 1, 0);
  };
  // Trained on 16, window 8: (16 - 8) G + 8 >= n. Rounding may take it one step further.
  for (const int64_t n : {17, 24, 25, 32, 100, 1000}) BOOST_TEST(largest(n) <= 16, n);
  BOOST_TEST(largest(24) == 23 / 2 + 8 - 8 / 2);
  BOOST_TEST(largest(25) == 24 / 3 + 8 - 8 / 3);
  BOOST_TEST(largest(16) == 15);
}

BOOST_AUTO_TEST_CASE(defaults_follow_the_training_length) {
  const auto canonical = [](const char* expression) {
    return Composition(expression, model_of(2)).canonical();
  };
  BOOST_TEST(canonical("rerope") == "rerope(w=8)");
  BOOST_TEST(canonical("leaky_rerope(k=8)") == "leaky_rerope(w=8)");
  BOOST_TEST(canonical("self_extend") == "self_extend(window=8, original_length=16)");
  BOOST_TEST(canonical("streaming") == "streaming(recent=12)");
  BOOST_TEST(canonical("streaming(2)") == "streaming(sinks=2, recent=14)");
  BOOST_TEST(canonical("lm_infinite") == "lm_infinite(n_local=16)");
}

// Rotary scores of near and of far pairs each depend on the effective distance alone, so moving
// both tokens along changes nothing.
BOOST_AUTO_TEST_CASE(far_scores_depend_on_the_effective_distance_alone) {
  for (const char* expression : kAll) {
    const Composition c(expression, model_of(2));
    const Composition::Layer layer = c.plan(40, 40, Phase::eval).layers[0];
    const bool is_masked = layer.rule.window > 0;
    const int64_t step = expression[0] == 's' && !is_masked ? 3 : 1;  // whole groups
    const int64_t m = 30, n = is_masked ? 1 : 12;
    // A query further on; its key too, where the distance counts.
    const double moved = rotated_distance(layer, m + step, is_masked ? n : n + step);
    BOOST_TEST(std::abs(rotated_distance(layer, m, n) - moved) < 1e-9, expression);
  }
}

BOOST_AUTO_TEST_CASE(combinations_that_make_no_sense_are_refused) {
  const Config config = model_of(2);
  BOOST_TEST(error_of_expression("rerope + rope", config).find("at most one rotation") !=
             std::string::npos);
  BOOST_TEST(error_of_expression("rerope + interpolation(4)", config)
                 .find("at most one remap of positions or distances") != std::string::npos);
  BOOST_TEST(error_of([&] { rule_of(Composition("rerope(8) + window(7)", config), 4); }) ==
             "[posenc] expected a window of at least the 8 near tokens of the term with two "
             "branches, got 7 in 'rerope(w=8) + window(w=7)'");
  BOOST_TEST(error_of([&] { rule_of(Composition("rerope(8) + window(8)", config), 4); }) == "");
  BOOST_TEST(error_of_expression("streaming(16)", config) ==
             "[posenc] streaming(recent): expected at least the query itself, got 0; choose fewer "
             "sinks than train_len, or give recent at column 1\n  streaming(16)\n  ^");
  BOOST_TEST(error_of_expression("self_extend(window=16)", config)
                 .find("self_extend(window): expected less than original_length = 16 where the "
                       "group is to be found, got 16") != std::string::npos);
  BOOST_TEST(error_of_expression("self_extend(2, window=16)", config) == "");
  BOOST_TEST(error_of_expression("leaky_rerope(k=0.5)", config).find("a number >= 1, got 0.5") !=
             std::string::npos);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
