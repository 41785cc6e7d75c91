#include <boost/test/unit_test.hpp>

#include "apps/sweep/grid.h"
#include "apps/sweep/plan.h"
#include "engine/base/error.h"
#include "tests/apps/sweep/sweep_fixture.h"
#include "tests/support/messages.h"

using namespace farfield;
using namespace farfield::sweep;

BOOST_AUTO_TEST_SUITE(test_own_grid)
namespace {

Experiment grid(const std::string& text) { return parse_grid("mine", text, Scale::tiny); }

}  // namespace

BOOST_AUTO_TEST_CASE(a_label_is_of_the_encoding_above_it) {
  const Experiment e = grid(
      "encoding = rope(base=5)\nlabel = short base\nencoding = alibi\n"
      "encoding = rope(base=7)\nlabel = longer\nreference = longer\n");
  BOOST_TEST(e.arms.size() == 3U);
  BOOST_TEST(e.arms[0].label == "short base");
  BOOST_TEST(e.arms[0].posenc == "rope(base=5)");
  BOOST_TEST(e.arms[1].label == "alibi");
  BOOST_TEST(e.arms[2].label == "longer");
  BOOST_TEST(e.reference_arm == "longer");
  const Plan plan = plan_of(e, made_up_options(Scale::tiny));
  BOOST_TEST(plan.cells.front().label() == "short base on text, L 64, seed 1");
  BOOST_TEST(plan.cells[1].label() == "alibi on text, L 64, seed 1");
  // It names nothing that is kept.
  BOOST_TEST(plan.cells.front().hash() ==
             plan_of(grid("encoding = rope(base=5)\n"), made_up_options(Scale::tiny))
                 .cells.front()
                 .hash());
  BOOST_TEST(cells_of({plan}, {"short base"}).size() == 1U);
}

BOOST_AUTO_TEST_CASE(labels_and_references_that_say_nothing_are_refused) {
  const char* const which = "label = x: expected a name behind the line of its encoding";
  BOOST_CHECK_EXCEPTION(grid("label = x\nencoding = rope\n"), ConfigError, says(which));
  BOOST_CHECK_EXCEPTION(grid("encoding = rope\nlabel = y\nlabel = x\n"), ConfigError, says(which));
  BOOST_CHECK_EXCEPTION(grid("encoding = rope\nencoding = rope\n"), ConfigError,
                        says("got 'rope' twice; label = NAME"));
  BOOST_CHECK_EXCEPTION(grid("encoding = rope\nreference = rop\n"), ConfigError,
                        says("reference: expected one of rope, got 'rop'; did you mean 'rope'"));
}

BOOST_AUTO_TEST_CASE(a_grid_says_how_many_seeds_it_has_at_least) {
  const Experiment e = grid("encoding = rope\nseeds = 3\n");
  PlanOptions options = made_up_options(Scale::tiny);
  BOOST_TEST(plan_of(e, options).seeds.size() == 3U);
  options.seeds = 2;
  BOOST_TEST(plan_of(e, options).seeds.size() == 3U);
  options.seeds = 4;
  BOOST_TEST(plan_of(e, options).seeds.size() == 4U);
  for (const char* bad : {"0", "-1", "1001"})
    BOOST_CHECK_EXCEPTION(grid(concat("encoding = rope\nseeds = ", bad, "\n")), ConfigError,
                          says("seeds: expected 1 to 1000, got "));
}

BOOST_AUTO_TEST_CASE(a_line_of_another_form_is_told_by_its_number) {
  BOOST_CHECK_EXCEPTION(grid("# models\n\nencoding = rope\nsteps: 10\n"), ConfigError,
                        says("mine.conf: line 4: expected key = value, got 'steps: 10'"));
  const Experiment e = grid("encoding=alibi  # linear\r\n  train.steps = 7 # few\n");
  BOOST_TEST(e.arms.front().posenc == "alibi");
  BOOST_TEST(run::value_of(e.arms.front().training, "steps") == "7");
}

BOOST_AUTO_TEST_CASE(a_wrong_key_or_value_is_told_as_it_stands_in_the_file) {
  const auto refused = [](const std::string& line, const std::string& message) {
    BOOST_CHECK_EXCEPTION(grid("encoding = rope\n" + line + '\n'), ConfigError,
                          says("mine.conf: line 2: " + message));
  };
  refused("train.stps = 7", "unknown option 'train.stps'; did you mean 'train.steps'?");
  refused("train.steps = few", "train.steps: expected a whole number, got 'few'");
  refused("train.threads = 2", "train.threads: a sweep sets it; --threads of sweep run");
  refused("eval.segmnts = 7", "unknown option 'eval.segmnts'; did you mean 'eval.segments'?");
  refused("eval.segments = few", "eval.segments: expected a whole number, got 'few'");
  refused("eval.lengths = 64", "eval.lengths: a sweep sets it; lengths and protocols have lines");
  refused("encoding =", "encoding: expected an expression, got nothing");
  refused("seed = 2", "unknown option 'seed'; did you mean 'seeds'?");
}

BOOST_AUTO_TEST_CASE(a_protocol_is_named_once_and_a_split_is_one_of_the_corpus) {
  BOOST_CHECK_EXCEPTION(grid("encoding = rope\nprotocols = sliding, last-token, sliding\n"),
                        ConfigError, says("protocols: expected each once, got 'sliding' twice"));
  const Experiment e = grid("encoding = rope\neval.split = valid\n");
  BOOST_TEST(run::value_of(e.measures.front().options, "split") == "valid");
  BOOST_CHECK_EXCEPTION(grid("encoding = rope\neval.split = all\n"), ConfigError,
                        says("eval.split: expected one of train, valid, test, got 'all'"));
}

BOOST_AUTO_TEST_CASE(help_names_every_key) {
  const std::string text = "\n" + grid_keys_text();
  for (const char* key : {"title", "encoding", "label", "dataset", "train-len", "lengths",
                          "protocols", "seeds", "reference", "train.OPTION", "eval.OPTION"})
    BOOST_TEST(text.find(concat("\n  ", key, " = ")) != std::string::npos, key);
}

BOOST_AUTO_TEST_SUITE_END()
