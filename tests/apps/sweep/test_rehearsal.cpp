#include <boost/test/unit_test.hpp>

#include "apps/sweep/grid.h"
#include "apps/sweep/rehearsal.h"
#include "engine/base/error.h"
#include "tests/apps/toy_run.h"
#include "tests/support/messages.h"

using namespace farfield;
using namespace farfield::sweep;

BOOST_AUTO_TEST_SUITE(test_rehearsal)
namespace {

// A corpus of bytes, and grids on it.
struct Fixture {
  test::ToyRun toy;
  PlanOptions options;

  Fixture() {
    options.scale = Scale::smoke;
    options.datasets.map("text=" + toy.data);
  }
  void look(const std::string& lines) const {
    const Experiment e = parse_grid("mine", lines, Scale::smoke);
    const std::vector<Plan> plans = {plan_of(e, options)};
    require_enough_text(plans, cells_of(plans));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(text_that_suffices_is_not_refused, Fixture) {
  BOOST_CHECK_NO_THROW(look(
      "encoding = rope\nencoding = alibi\ntrain-len = 16\nlengths = 16, 32\nprotocols = "
      "last-token, non-overlapping, sliding, cached, gradient, position-wise, speed, reach\n"));
}

BOOST_FIXTURE_TEST_CASE(every_protocol_says_before_training_what_it_lacks, Fixture) {
  for (const char* protocol :
       {"last-token", "non-overlapping", "sliding", "cached", "gradient", "position-wise"})
    BOOST_CHECK_EXCEPTION(
        look(concat("encoding = rope\nlengths = 32, 1000000\nprotocols = ", protocol, "\n")),
        IoError,
        says("[sweep] nothing was trained: own/mine: ",
             concat(protocol, " at 32, 1000000 on corpus: "),
             concat("[eval:", protocol, "] not_enough_data: expected at least 100000"), ", got "));
  BOOST_CHECK_EXCEPTION(look("encoding = rope\ntrain-len = 1000\nprotocols = coherence\n"), IoError,
                        says("own/mine: coherence on corpus: [eval:coherence] not_enough_data"));
}

BOOST_FIXTURE_TEST_CASE(training_sequences_longer_than_the_text_are_refused, Fixture) {
  BOOST_CHECK_EXCEPTION(look("encoding = rope\ntrain-len = 100000\nlengths = 16\n"), IoError,
                        says("own/mine: training at 100000 on corpus: [loader] expected at least "
                             "100000 + 1 tokens"));
}

BOOST_FIXTURE_TEST_CASE(only_cells_that_are_to_be_made_are_looked_at, Fixture) {
  const Experiment e = parse_grid("mine", "encoding = rope\nlengths = 1000000\n", Scale::smoke);
  BOOST_CHECK_NO_THROW(require_enough_text({plan_of(e, options)}, {}));
}

BOOST_FIXTURE_TEST_CASE(a_tokenizer_that_loses_the_digits_of_a_key_is_refused, Fixture) {
  const std::string grid = "encoding = rope\ntrain-len = 16\nprotocols = passkey\n";
  BOOST_CHECK_NO_THROW(look(grid));
  data::PrepareOptions prepare;
  prepare.source.inputs = {toy.folder / "text.txt"};
  prepare.tokenizer = "words";
  prepare.output = toy.path("words");
  data::prepare(prepare);
  options.datasets.map("text=" + prepare.output.string());
  BOOST_CHECK_EXCEPTION(
      look(grid), IoError,
      says("[eval:passkey] bad_token: expected a tokenizer that keeps the digits"));
}

BOOST_AUTO_TEST_SUITE_END()
