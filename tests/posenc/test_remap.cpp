// Remaps of positions: where they put each token, and what the other terms of a layer make of it.
// Their random draws are in test_remap_draws.cpp.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/ops/attention.h"
#include "posenc/remap.h"
#include "tests/support/all_close.h"
#include "tests/support/encodings.h"
#include "tests/support/random_tensor.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_remap)  // ctest: on_cuda
namespace {

using farfield::test::golden;
using farfield::test::golden_numbers;
using Json = nlohmann::json;
using Entry = Positions::Entry;

const Json& file() {
  static const Json& json = golden("positions.json");
  return json;
}
Positions plain(int64_t n, Phase phase, const Draw& draw = {}) {
  return Positions::plain(n, n, phase, {}, draw);
}
Positions remapped(std::string_view expression, const Positions& p) {
  return encoding_of(expression, model_of(2))->positions(p);
}
Positions remapped(std::string_view expression, int64_t n, Phase phase) {
  return remapped(expression, plain(n, phase));
}
std::vector<double> counted(int64_t n, double first = 0) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < n; ++i) numbers.push_back(first + static_cast<double>(i));
  return numbers;
}
ScoreRule rule_of_both(const std::string& expression, int64_t n, Phase phase = Phase::eval) {
  return rule_of(Composition(expression, model_of(2)), n, phase);
}

BOOST_AUTO_TEST_CASE(positions_without_draws_equal_the_golden_ones) {
  const auto n = file()["length"].get<int64_t>();
  const auto check = [&](const std::string& expression, const char* name) {
    const Positions p = remapped(expression, n, Phase::eval);
    BOOST_TEST(all_close(p.ids, golden_numbers(file()[name]["positions"]), Tolerance(0)), name);
  };
  check(concat("interpolation(", file()["interpolation"]["scale"].get<double>(), ')'),
        "interpolation");
  check(concat("modulo(", file()["modulo"]["L0"].get<int64_t>(), ')'), "modulo");
  check(concat("block_repeat(", file()["block_repeat"]["repeat"].get<int64_t>(), ')'),
        "block_repeat");
}

BOOST_AUTO_TEST_CASE(positions_equal_the_golden_ones_for_the_golden_draws) {
  const auto n = file()["length"].get<int64_t>();
  const auto want = [](const char* name) { return golden_numbers(file()[name]["positions"]); };

  const auto offset = file()["shifted"]["offset"].get<int64_t>();
  const Positions shifted = remapped(concat("shifted(step=", offset, ", span=100)"),
                                     plain(n, Phase::train, {.index = 1}));
  BOOST_TEST(all_close(shifted.ids, want("shifted"), Tolerance(0)));

  const auto pad = file()["front_padding"]["pad"].get<double>();
  BOOST_TEST(
      all_close(moved(plain(n, Phase::train), pad).ids, want("front_padding"), Tolerance(0)));

  const Json& cape = file()["cape"];
  const auto local = golden_numbers(cape["local_shift"]);
  BOOST_TEST(all_close(cape_ids(local, cape["global_shift"].get<double>(),
                                cape["scale"].get<double>(), /*normalized=*/false),
                       want("cape"), Tolerance(0, 1e-14)));

  const Json& jumps = file()["positional_jumps"];
  const auto extra = jumps["extra_per_boundary"].get<std::vector<int64_t>>();
  BOOST_TEST(all_close(jump_ids(n, jumps["block"].get<int64_t>(), extra), want("positional_jumps"),
                       Tolerance(0)));
}

BOOST_AUTO_TEST_CASE(interpolation_by_1_is_the_identity) {
  for (const char* expression : {"interpolation(1)", "interpolation(auto)", "block_repeat(1)"}) {
    const Positions p = remapped(expression, 16, Phase::eval);
    BOOST_TEST((p.ids == counted(16)), expression);
    BOOST_TEST((p.distance == counted(16)), expression);
    for (const char* other : {"alibi", "sandwich"})
      BOOST_TEST(all_close(rule_of_both(concat(expression, " + ", other), 16).bias,
                           rule_of_both(other, 16).bias, Tolerance(0)));
  }
}

BOOST_AUTO_TEST_CASE(interpolation_divides_ids_and_distances_alike) {
  const Positions p = remapped("interpolation(auto)", 64, Phase::eval);  // trained on 16
  BOOST_TEST((p.entry == Entry::distance));
  BOOST_TEST((p.ids == p.distance));
  BOOST_TEST(p.ids.back() == 63 / 4.0);
  BOOST_TEST((remapped("interpolation(4, at=eval)", 8, Phase::train).ids == counted(8)));
  BOOST_TEST(all_close(rule_of_both("interpolation(4) + alibi(0.5)", 9).bias,
                       rule_of_both("alibi(0.125)", 9).bias, Tolerance(1e-15)));
}

BOOST_AUTO_TEST_CASE(modulo_acts_at_test_beyond_its_length) {
  BOOST_TEST((remapped("modulo(8)", 20, Phase::train).ids == counted(20)));
  BOOST_TEST((remapped("modulo(8, at=both)", 20, Phase::train).ids[8] == 0));
  BOOST_TEST((remapped("modulo", 17, Phase::eval).ids[16] == 0));  // trained on 16
  BOOST_TEST((remapped("modulo(8)", 8, Phase::eval).entry == Entry::distance));
  BOOST_TEST((remapped("modulo(8)", 9, Phase::eval).entry == Entry::none));
}

BOOST_AUTO_TEST_CASE(tables_are_refused_where_distances_make_no_sense) {
  BOOST_TEST(
      error_of([] {
        rule_of_both("alibi + modulo(8)", 9);
      }).find("expected no bias or weight by distance beside modulo(length=8), whose positions") !=
      std::string::npos);
  BOOST_TEST(error_of([] { rule_of_both("alibi + modulo(8)", 8); }) == "");
  BOOST_TEST(error_of([] { rule_of_both("alibi + modulo(8)", 9, Phase::train); }) == "");
  BOOST_TEST(error_of([] { rule_of_both("alibi + cape", 9, Phase::train); }).find("beside cape") !=
             std::string::npos);
  BOOST_TEST(error_of([] { rule_of_both("alibi + cape", 9); }) == "");
  BOOST_TEST(error_of([] { rule_of_both("window(3) + rope + cape", 9, Phase::train); }) == "");
}

BOOST_AUTO_TEST_CASE(block_repeat_looks_tables_up_at_differences_of_ids) {
  const ScoreRule rule = rule_of_both("block_repeat(4) + alibi(0.5)", 9);
  BOOST_TEST((rule.ids.to_vector() == std::vector<double>{0, 0, 0, 0, 1, 1, 1, 1, 2}));
  BOOST_TEST((rule.bias.shape() == Shape{2, 3}));
  BOOST_TEST(all_close(at_distances(rule.bias, {0, 1, 2}),
                       std::vector<double>{0, -0.5, -1, 0, -0.5, -1}, Tolerance(1e-15)));
  BOOST_TEST((remapped("block_repeat(4, at=eval)", 9, Phase::train).ids == counted(9)));
  // The queries of a call need not be all of its positions.
  const Positions last =
      encoding_of("block_repeat(4)", model_of(2))->positions(Positions::plain(2, 9, Phase::eval));
  BOOST_TEST((last.query_ids() == std::vector<double>{1, 2}));
  BOOST_TEST(last.distance.size() == 3u);
}

BOOST_AUTO_TEST_CASE(jumps_look_tables_up_at_differences_of_ids_of_each_sequence) {
  const Composition c("positional_jumps(3, block=2) + alibi(0.5)", model_of(2));
  const Composition::Plan plan = c.plan(9, 9, Phase::train, {.n_sequence = 4, .index = 7});
  const ScoreRule& rule = plan.layers[0].rule;
  BOOST_TEST((rule.ids.shape() == Shape{4, 9}));
  const auto ids = rule.ids.to_vector();
  double largest = 0;
  for (size_t row = 0; row < 4; ++row) {
    largest = std::max(largest, ids[row * 9 + 8]);
    BOOST_TEST(ids[row * 9] == 0);
    for (size_t m = 1; m < 9; ++m) {
      const double step = ids[row * 9 + m] - ids[row * 9 + m - 1];
      BOOST_TEST((m % 2 == 0 ? step >= 1 && step <= 3 : step == 1));
    }
  }
  BOOST_TEST(rule.bias.dim(1) == static_cast<int64_t>(largest) + 1);
  BOOST_TEST(rule_of(c, 9).ids.defined() == false);  // at test: no jumps
  BOOST_TEST(error_of([] {
               remapped("positional_jumps(1000000000, block=1)", 64, Phase::train);
             }).find("expected distances below 2^24 after positional_jumps, got ") !=
             std::string::npos);
}

// A bias read at differences of ids: a table of its own for each sequence, written out densely.
BOOST_AUTO_TEST_CASE(attention_reads_tables_at_differences_of_ids) {
  const int64_t n_batch = 2, n_head = 2, n = 9, width = 8;
  const Tensor q = random_tensor({n_batch, n_head, n, width}, 1), k = random_tensor(q.shape(), 2),
               v = random_tensor(q.shape(), 3);
  const Composition::Layer layer =
      Composition("positional_jumps(4, block=2) + alibi([0.5,0.25])", model_of(n_head))
          .plan(n, n, Phase::train, {.n_sequence = n_batch})
          .layers[0];
  const auto ids = layer.rule.ids.to_vector();
  const auto got = attention(q, k, v, layer.rule).to_vector();  // [B, T, H * K]
  const auto qs = q.to_vector(), ks = k.to_vector(), vs = v.to_vector();
  for (int64_t b = 0; b < n_batch; ++b)
    for (int64_t h = 0; h < n_head; ++h)
      for (int64_t m = 0; m < n; ++m) {
        const auto at = [&](int64_t i) {
          return static_cast<size_t>(((b * n_head + h) * n + i) * width);
        };
        std::vector<double> out(static_cast<size_t>(width));
        double total = 0;
        for (int64_t i = 0; i <= m; ++i) {
          double dot = 0;
          for (size_t c = 0; c < out.size(); ++c) dot += qs[at(m) + c] * ks[at(i) + c];
          const double d =
              ids[static_cast<size_t>(b * n + m)] - ids[static_cast<size_t>(b * n + i)];
          const double p = std::exp(dot / std::sqrt(8) - (h == 0 ? 0.5 : 0.25) * d);
          total += p;
          for (size_t c = 0; c < out.size(); ++c) out[c] += p * vs[at(i) + c];
        }
        for (size_t c = 0; c < out.size(); ++c)
          BOOST_TEST(std::abs(got[static_cast<size_t>((b * n + m) * n_head + h) * out.size() + c] -
                              out[c] / total) < 1e-13);
      }
}

BOOST_AUTO_TEST_CASE(shifts_cycle_through_their_span_and_leave_the_test_alone) {
  const auto start = [](std::string_view expression, uint64_t batch, Phase phase = Phase::train) {
    return remapped(expression, plain(4, phase, {.index = batch})).ids[0];
  };
  for (uint64_t batch : {0, 1, 2, 3, 4, 9})
    BOOST_TEST(start("shifted", batch) == 2048 * (static_cast<double>(batch % 4)));
  BOOST_TEST(start("shifted(step=0, offset=3072)", 5) == 3072);
  BOOST_TEST(start("shifted(step=5, span=7, offset=6)", 3) == 0);  // 6 + 15 = 3 * 7
  // (2^64 - 1) mod 1000 = 615, 615 * 999 mod 1000 = 385.
  BOOST_TEST(start("shifted(step=999, span=1000)", ~uint64_t{0}) == 385);
  BOOST_TEST(start("shifted", 3, Phase::eval) == 0);
  BOOST_TEST(start("shape(eval_shift=500)", 3, Phase::eval) == 500);
  BOOST_TEST(start("shape", 3, Phase::eval) == 0);
  BOOST_TEST(start("front_padding", 3, Phase::eval) == 0);
}

BOOST_AUTO_TEST_CASE(a_normalized_cape_has_mean_0_at_test) {
  const Positions p = remapped("cape(normalize=true)", 5, Phase::eval);
  BOOST_TEST((p.ids == std::vector<double>{-2, -1, 0, 1, 2}));
  BOOST_TEST((p.entry == Entry::distance));
  const std::vector<double> local(5, 0.0);
  BOOST_TEST((cape_ids(local, 1, 2, true) == std::vector<double>{-2, 0, 2, 4, 6}));
}

BOOST_AUTO_TEST_CASE(inputs_longer_than_the_positions_there_are_are_refused) {
  BOOST_TEST(error_of([] { remapped("randomized(8)", 9, Phase::eval); }) ==
             "[posenc] expected at most the 8 tokens that randomized has positions for, got 9; "
             "choose randomized(max_positions=...) as large as the longest input");
  // Not a place without values, but a sample that cannot be drawn.
  BOOST_CHECK_EXCEPTION(
      remapped("randomized(8)", 9, Phase::eval), ConfigError,
      [](const ConfigError& error) { return !dynamic_cast<const PositionError*>(&error); });
  BOOST_TEST(error_of([] { remapped("front_padding(8)", 9, Phase::train); }) ==
             "[posenc] expected at most the 8 tokens of the window of front_padding, got 9; choose "
             "front_padding(max_positions=...) longer than the training length");
  BOOST_TEST(error_of([] { remapped("front_padding(8)", 9, Phase::eval); }) == "");
  BOOST_TEST(error_of([] { remapped("randomized(9)", 9, Phase::eval); }) == "");
}

BOOST_AUTO_TEST_CASE(two_remaps_on_one_layer_are_refused) {
  const Config config = model_of(2);
  BOOST_TEST(error_of_expression("modulo + block_repeat", config)
                 .find("expected at most one remap of positions or distances on a layer, got "
                       "modulo(length=16) and block_repeat at column 10") != std::string::npos);
  BOOST_TEST(error_of_expression("rope_linear(4) + shifted", config).find("at most one remap") !=
             std::string::npos);
  BOOST_TEST(error_of_expression("modulo@0 + block_repeat@1..2", config) == "");
}

BOOST_AUTO_TEST_CASE(arguments_out_of_range_are_refused) {
  const Config config = model_of(2);
  for (const char* expression :
       {"block_repeat(0)", "modulo(0)", "interpolation(0.5)", "shape(0)", "shifted(span=0)",
        "shifted(step=-1)", "cape(l_max=0.9)", "cape(d_max=-1)", "positional_jumps(0)",
        "randomized(0)", "positional_jumps(3, block=0)", "shifted(2000000000)"})
    BOOST_TEST(error_of_expression(expression, config).find("): expected ") != std::string::npos,
               expression);
  BOOST_TEST(error_of_expression("positional_jumps", config)
                 .find("positional_jumps needs p_jump, an integer >= 1") != std::string::npos);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
