// What a training run warns of.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "apps/train/training_run.h"
#include "tests/apps/toy_run.h"
#include "tests/apps/train/training_calls.h"

BOOST_AUTO_TEST_SUITE(test_training_warnings)

using namespace farfield;
using namespace farfield::train;
using farfield::test::go;
using farfield::test::toy;

namespace {

std::vector<std::string> warnings_of(const run::RunConfig& config, const std::string& name) {
  std::vector<std::string> said;
  const auto warn = [&](const std::string& text) { said.push_back(text); };
  TrainingRun run = TrainingRun::start(run::resolve(config), toy().path(name), warn);
  BOOST_TEST(go(run) == cli::kDone);
  return said;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_loss_far_above_guessing_is_told_once) {
  run::RunConfig config = toy().config();
  BOOST_TEST(warnings_of(config, "sound").empty());
  config.lr = 30;
  config.warmup = 0;
  config.steps = 20;
  const std::vector<std::string> said = warnings_of(config, "diverging");
  BOOST_TEST_REQUIRE(said.size() == 1u);
  BOOST_TEST(
      said[0].find("is far above ln(vocabulary) = 5.8, the loss of guessing: training diverges") !=
          std::string::npos,
      said[0]);
}

BOOST_AUTO_TEST_CASE(fewer_valid_sequences_than_asked_for_are_counted) {
  run::RunConfig config = toy().config();
  config.valid_windows = 100'000'000;
  const std::vector<std::string> said = warnings_of(config, "windows");
  BOOST_TEST_REQUIRE(said.size() == 1u);
  BOOST_TEST(said[0].starts_with("--valid-windows 100000000: the valid split has "), said[0]);
  BOOST_TEST(said[0].ends_with(" sequences of 16 tokens; the valid loss is of them"), said[0]);
  config.valid_every = 0;
  BOOST_TEST(warnings_of(config, "no-windows").empty());
}

BOOST_AUTO_TEST_SUITE_END()
