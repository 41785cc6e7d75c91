#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "apps/run/resolved_config.h"
#include "apps/sweep/scale.h"
#include "engine/base/error.h"
#include "posenc/shared_arguments.h"
#include "tests/support/messages.h"

using namespace farfield;
using namespace farfield::sweep;

BOOST_AUTO_TEST_SUITE(test_scale)

BOOST_AUTO_TEST_CASE(slopes_grow_as_lengths_shrink) {
  // experiments.md 2.2: slope x L stays, so every exponent drops by 3 at an eighth of the length.
  BOOST_TEST(expression_at(Scale::tiny, "alibi") == "alibi_shift(delta=-3)");
  BOOST_TEST(expression_at(Scale::tiny, "alibi_shift(delta=6)") == "alibi_shift(delta=3)");
  BOOST_TEST(expression_at(Scale::smoke, "alibi_shift(6)") == "alibi_shift(delta=2)");
  BOOST_TEST(expression_at(Scale::tiny, "alibi_equal(h=8)") == "alibi_equal(h=5)");
  BOOST_TEST(expression_at(Scale::tiny, "alibi_random") == "alibi_random(bias_scale=8)");
  BOOST_TEST(expression_at(Scale::tiny, "alibi_shift(delta=2, slope_floor=0.01)") ==
             "alibi_shift(delta=-1, slope_floor=0.08)");
}

BOOST_AUTO_TEST_CASE(both_sets_of_slopes_are_one_model_below_paper_scale) {
  BOOST_TEST(expression_at(Scale::tiny, "alibi(slopes=geometric)") ==
             expression_at(Scale::tiny, "alibi_shift(delta=0)"));
}

BOOST_AUTO_TEST_CASE(trained_slopes_start_steeper) {
  const std::string scaled = expression_at(Scale::tiny, "alibi_learned(theta=0)");
  BOOST_TEST(scaled == "alibi_learned(theta=2.0794415416798357)");  // ln 8
}

BOOST_AUTO_TEST_CASE(tokens_shrink_and_stay_at_least_one) {
  BOOST_TEST(expression_at(Scale::tiny, "rope + window(160)@0..-2") == "rope + window(w=20)@0..-2");
  BOOST_TEST(expression_at(Scale::tiny, "window(w=2)") == "window(w=1)");
  BOOST_TEST(expression_at(Scale::tiny, "shape + sinusoidal") == "shape(k=63) + sinusoidal");
  BOOST_TEST(expression_at(Scale::smoke, "window(w=24)", Scale::tiny) == "window(w=12)");
  BOOST_TEST(expression_at(Scale::tiny, "window(w=24)", Scale::tiny) == "window(w=24)");
}

BOOST_AUTO_TEST_CASE(t5_has_smaller_buckets) {
  BOOST_TEST(expression_at(Scale::tiny, "t5") == "t5(num_buckets=16, max_distance=16)");
  BOOST_TEST(expression_at(Scale::small, "t5") == "t5(num_buckets=16, max_distance=64)");
  BOOST_TEST(expression_at(Scale::tiny, "t5(num_buckets=8)") == "t5(num_buckets=8)");
}

BOOST_AUTO_TEST_CASE(what_has_no_length_of_its_own_stays) {
  for (const char* name : {"sandwich", "sandwich(bar_d=64)", "sandwich_smoothed", "kerple_log",
                           "kerple_power", "kerple_log3", "bias_wht", "gauss_wht1", "rope",
                           "sinusoidal", "none", "kernel(bias=-r1*sqrt(d), r1>0~U(0,2))"})
    BOOST_TEST(expression_at(Scale::tiny, name) == name);
}

BOOST_AUTO_TEST_CASE(a_new_encoding_is_scaled_by_its_row_alone) {
  static const posenc::Row made_up = {.name = "made_up",
                                      .arguments = {posenc::tokens_argument("reach", 160, "")}};
  const auto row_of = [](std::string_view name) {
    return name == made_up.name ? &made_up : posenc::find(name);
  };
  BOOST_TEST(expression_at(Scale::tiny, "made_up + window(w=80)", Scale::paper, row_of) ==
             "made_up(reach=20) + window(w=10)");
  BOOST_TEST(expression_at(Scale::tiny, "made_up(8)", Scale::tiny, row_of) == "made_up(8)");
}

BOOST_AUTO_TEST_CASE(trained_slopes_of_any_scale_have_a_number_per_head) {
  const int64_t n_head = run::resolve(training_of(Scale::paper, Size::base)).model.n_head;
  const std::string text = expression_at(Scale::paper, "alibi_learned", Scale::tiny);
  BOOST_TEST(std::count(text.begin(), text.end(), ',') == n_head - 1);
}

BOOST_AUTO_TEST_CASE(paper_scale_changes_nothing) {
  for (const char* name : {"alibi", "t5", "window(160)"})
    BOOST_TEST(expression_at(Scale::paper, name) == name);
}

BOOST_AUTO_TEST_CASE(trainings_are_those_of_the_profiles) {
  const run::ResolvedConfig tiny = run::resolve([] {
    run::RunConfig c = training_of(Scale::tiny, Size::base);
    c.data = {"x"};
    return c;
  }());
  BOOST_TEST(tiny.model.n_layer == 4);
  BOOST_TEST(tiny.model.n_head == 4);
  BOOST_TEST(tiny.model.d_model == 64);
  BOOST_TEST(tiny.model.d_ff == 256);
  BOOST_TEST(tiny.train_len() == 64);
  BOOST_TEST(tiny.batch == 32);
  BOOST_TEST(tiny.steps == 1200);
  BOOST_TEST(tiny.lr == 2e-3);
  BOOST_TEST(tiny.clip == 1.0);
  BOOST_TEST(tiny.warmup == 0.02);
  const run::RunConfig long_one = training_of(Scale::tiny, Size::base, 4, 0.5);
  BOOST_TEST(*long_one.train_len == 256);
  BOOST_TEST(*long_one.steps == 600);
  BOOST_TEST(training_of(Scale::paper, Size::base).preset == "neox-162m");
  BOOST_TEST(*training_of(Scale::paper, Size::base).steps == 50'000);
  BOOST_TEST(*training_of(Scale::paper, Size::large).steps == 150'000);
}

BOOST_AUTO_TEST_CASE(brief_has_the_published_models_and_a_tenth_of_their_steps) {
  for (const Size size : {Size::base, Size::large, Size::baevski}) {
    const run::RunConfig brief = training_of(Scale::brief, size);
    const run::RunConfig paper = training_of(Scale::paper, size);
    BOOST_TEST(brief.preset == paper.preset);
    BOOST_TEST(*brief.train_len == *paper.train_len);
    BOOST_TEST(*brief.batch == *paper.batch);
    BOOST_TEST(*brief.steps == *paper.steps / 10);
    BOOST_TEST(*brief.precision == "bf16");
    run::resolve(brief);  // is a configuration of `train`
  }
  BOOST_TEST(*training_of(Scale::brief, Size::base).steps == 5000);
  BOOST_TEST(*training_of(Scale::brief, Size::base).logits == "bf16");
  BOOST_TEST(expression_at(Scale::brief, "alibi_shift(delta=6) + window(w=40)") ==
             "alibi_shift(delta=6) + window(w=40)");
}

BOOST_AUTO_TEST_CASE(a_scale_is_found_by_its_name) {
  for (const Scale scale : {Scale::smoke, Scale::tiny, Scale::small, Scale::brief, Scale::paper})
    BOOST_TEST((scale_named(to_word(scale)) == scale));
  BOOST_CHECK_EXCEPTION(scale_named("tinny"), ConfigError, says("did you mean 'tiny'"));
}

BOOST_AUTO_TEST_SUITE_END()
