#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "engine/base/error.h"
#include "engine/base/text.h"
#include "posenc/rescale.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_rescale)
namespace {

using Unit = ArgumentSpec::Unit;

const LengthChange kEighth = {.factor = 0.125, .train_len = 64, .n_head = 4};

std::string at_an_eighth(const std::string& expression) { return rescaled(expression, kEighth); }

}  // namespace

BOOST_AUTO_TEST_CASE(every_integer_is_a_number_of_tokens_or_a_count) {
  for (const Row& row : registry())
    for (const ArgumentSpec& spec : row.arguments)
      if (spec.kind == ArgumentSpec::Kind::integer || spec.kind == ArgumentSpec::Kind::integers)
        BOOST_TEST((spec.unit == Unit::tokens || spec.unit == Unit::count),
                   row.name << '(' << spec.name
                            << "): expected .tokens() or .count() in its row, got neither");
}

BOOST_AUTO_TEST_CASE(a_default_that_follows_the_training_length_is_in_tokens) {
  Config config;
  config.n_head = 4;
  config.n_layer = 4;
  config.head_dim = 16;
  config.d_model = 64;
  Config longer = config;
  config.train_len = 64;
  longer.train_len = 512;
  for (const Row& row : registry()) {
    const std::string example = example_of(row);
    const ParsedTerm term = parse_expression(example, form_of).front();
    for (const ArgumentSpec& spec : row.arguments) {
      if (!spec.derive) continue;
      const Arguments few(example, term, row.name, row.arguments, config);
      const Arguments many(example, term, row.name, row.arguments, longer);
      if (!spec.derive(config, few).same(spec.derive(longer, many)))
        BOOST_TEST((spec.unit == Unit::tokens), row.name << '(' << spec.name << ')');
    }
  }
}

// A slope set is a word, so no unit of its own makes it steeper.
BOOST_AUTO_TEST_CASE(an_encoding_with_a_set_of_slopes_says_how_they_steepen) {
  for (const Row& row : registry())
    if (row.takes("slopes")) BOOST_TEST((row.rescale != nullptr), row.name);
}

BOOST_AUTO_TEST_CASE(tokens_follow_the_factor_where_no_experiment_uses_them_too) {
  BOOST_TEST(at_an_eighth("rope_yarn(scale=auto, original_length=512)") ==
             "rope_yarn(scale=auto, original_length=64)");
  BOOST_TEST(at_an_eighth("xpos(centre=256)") == "xpos(centre=32, scale_base=64)");
  BOOST_TEST(at_an_eighth("xpos(centre=-256)") == "xpos(centre=-32, scale_base=64)");
  BOOST_TEST(at_an_eighth("xpos(centre=auto)") == "xpos(centre=auto, scale_base=64)");
  BOOST_TEST(at_an_eighth("shifted") == "shifted(step=256, span=1024)");
}

BOOST_AUTO_TEST_CASE(numbers_of_other_things_stay) {
  for (const char* same :
       {"block_repeat(repeat=4)", "fire(hidden=8, l0=0)", "streaming(sinks=8)",
        "lm_infinite(n_global=8)", "self_extend(group=4)", "sandwich(bar_d=64)",
        "only_distances(distances=[0,41]) + rope", "t5(num_buckets=64, max_distance=256)",
        "kernel(bias=-r*d, r>0~U(0,2))@0..-2"})
    BOOST_TEST(at_an_eighth(same) == same);
}

BOOST_AUTO_TEST_CASE(a_factor_of_one_keeps_the_text) {
  BOOST_TEST(rescaled("window( 160 )+alibi", {}) == "window( 160 )+alibi");
  BOOST_CHECK_THROW(rescaled("window(", {}), ConfigError);
}

BOOST_AUTO_TEST_CASE(a_new_row_is_rescaled_by_the_units_that_it_declares) {
  static const Row made_up = {
      .name = "made_up",
      .arguments = {tokens_argument("reach", 100, ""), train_len_argument("rows", ""),
                    integer_argument("hidden", 8, "").count(),
                    number_argument("rate", 0, "").in(Unit::per_token),
                    required_per_head("octave", "").in(Unit::halvings_per_token),
                    number_argument("log_rate", 1, "").in(Unit::log_per_token),
                    number_argument("power", 2, "")}};
  const auto row_of = [](std::string_view name) {
    return name == made_up.name ? &made_up : find(name);
  };
  const LengthChange quarter = {.factor = 0.25, .train_len = 128, .n_head = 4};
  BOOST_TEST(
      rescaled("made_up(80, octave=[1,3], log_rate=0, rate=0.5, power=2, hidden=8) + window(w=8)",
               quarter, row_of) ==
      "made_up(reach=20, octave=[-1,1], log_rate=1.3862943611198906, rate=2, power=2, hidden=8) + "
      "window(w=2)");
  // Defaults follow too, but for what the encoding takes from the training length or is 0.
  BOOST_TEST(rescaled("made_up(octave=2)", quarter, row_of) ==
             "made_up(octave=0, reach=25, log_rate=2.386294361119891)");
}

BOOST_AUTO_TEST_CASE(a_set_of_slopes_stays_where_the_two_differ) {
  const LengthChange twelve = {.factor = 0.125, .train_len = 64, .n_head = 12};
  BOOST_TEST(rescaled("alibi", twelve) == "alibi_shift(slopes=interp, delta=-3)");
  BOOST_TEST(rescaled("alibi(slopes=geometric)", twelve) ==
             "alibi_shift(slopes=geometric, delta=-3)");
  BOOST_TEST(rescaled("alibi_shift(delta=0)", twelve) == "alibi_shift(delta=-3)");
  BOOST_TEST(rescaled("alibi", {.factor = 0.125, .train_len = 64, .n_head = 4}) ==
             "alibi_shift(delta=-3)");
}

BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
