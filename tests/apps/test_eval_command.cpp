// The program eval on runs that train in a moment.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <set>
#include <sstream>

#include "apps/cli.h"
#include "apps/csv.h"
#include "apps/eval_command.h"
#include "apps/measure.h"
#include "apps/training_run.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/apps/toy_run.h"
#include "tests/support/messages.h"

using namespace farfield;
using namespace farfield::apps;
using farfield::test::ToyRun;
namespace fs = std::filesystem;

namespace {

void train(const ToyRun& toy, const std::string& posenc, const std::string& path) {
  TrainingRun run = TrainingRun::start(toy.config(posenc), path);
  std::ostringstream nowhere;
  Progress progress(nowhere, false);
  BOOST_TEST_REQUIRE(run.go(progress) == kDone);
}

struct Trained {
  ToyRun toy;
  std::string alibi = toy.path("alibi"), rope = toy.path("rope");
  Trained() {
    train(toy, "alibi", alibi);
    train(toy, "rope", rope);
  }
};
const Trained& trained() {
  static const Trained one;
  return one;
}

int eval(std::vector<std::string> words, std::string* said = nullptr) {
  words.insert(words.begin(), "eval");
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  std::ostringstream out;
  const int code = eval_command(static_cast<int>(argv.size()), argv.data(), out);
  if (said != nullptr) *said = out.str();
  return code;
}

// The exit code of the whole program.
int exit_code(std::vector<std::string> words) {
  words.insert(words.begin(), "eval");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return run_main(static_cast<int>(argv.size()), argv.data(), [](int argc, char** all) {
    std::ostringstream out;
    return eval_command(argc, all, out);
  });
}

const std::vector<std::string> kShort = {"--lengths", "16,64", "--segments", "10", "--allow-fewer"};

std::vector<std::string> with_short(std::vector<std::string> words) {
  words.insert(words.end(), kShort.begin(), kShort.end());
  return words;
}

// Thrown by a watch to stop a measurement.
struct Enough {};

// What `watch` is told when last-token perplexity is measured at 16 and 64; after `stop_at` calls
// it throws.
std::vector<int64_t> passes(const std::string& run, size_t stop_at, bool again = false) {
  EvalOptions options;
  options.common.lengths = {16, 64};
  options.common.allow_fewer = true;
  options.last_token.segments = 10;
  std::vector<int64_t> told;
  const auto watch = [&](int64_t n) {
    if (told.size() == stop_at) throw Enough();
    told.push_back(n);
  };
  try {
    measure(load_run(run), data::Corpus::open(trained().toy.data), "test", "last-token", options,
            {.again = again, .watch = watch});
  } catch (const Enough&) {
  }
  return told;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_list_explains_every_protocol_and_measures_nothing) {
  std::string said;
  BOOST_TEST(eval({"--list"}, &said) == kDone);
  for (const Protocol& protocol : protocols()) {
    BOOST_TEST(said.find(protocol.name + ": " + protocol.help) != std::string::npos, said);
    BOOST_TEST(said.find(protocol.source) != std::string::npos, said);
  }
}

BOOST_AUTO_TEST_CASE(help_has_the_options_of_every_protocol_and_names_compare) {
  std::string said;
  BOOST_TEST(eval({"--help"}, &said) == kDone);
  for (const char* part : {"--run", "--protocol", "--segments", "--budget", "--again",
                           "eval compare", "(default: last-token)"})
    BOOST_TEST(said.find(part) != std::string::npos, part << " in\n" << said);
}

BOOST_AUTO_TEST_CASE(bad_requests_say_what_to_do) {
  BOOST_CHECK_EXCEPTION(eval({}), ConfigError,
                        says("[eval] bad_argument: expected the folder of a run"));
  BOOST_CHECK_EXCEPTION(
      eval({"--run", trained().alibi, "--protocol", "last-tokn"}), ConfigError,
      says("bad_argument: --protocol: ", "'last-tokn'", "did you mean 'last-token'?"));
  const std::string folder = trained().toy.folder.path().string();
  BOOST_CHECK_EXCEPTION(eval({"--run", folder + "/none"}), IoError,
                        says("[run] " + folder + "/none: expected the folder of a run"));
  BOOST_CHECK_THROW(eval({"--run", folder}), IoError);
  BOOST_CHECK_EXCEPTION(
      eval({"--run", trained().alibi, "--lengths", "1000000"}), IoError,
      says("[eval:last-token] not_enough_data: expected at least 1000000 tokens", "got "));
  BOOST_CHECK_EXCEPTION(eval({"--run", trained().alibi, "--lengths", "1"}), ConfigError,
                        says("[eval:last-token] length_too_short"));
}

BOOST_AUTO_TEST_CASE(exit_codes_tell_requests_from_data) {
  BOOST_TEST(exit_code({}) == kUsage);
  BOOST_TEST(exit_code({"--run", trained().alibi, "--protocol", "last-tokn"}) == kUsage);
  BOOST_TEST(exit_code({"--run", trained().alibi, "--lengths", "1"}) == kUsage);
  BOOST_TEST(exit_code({"--run", trained().toy.path("none")}) == kBadData);
  BOOST_TEST(exit_code({"--run", trained().alibi, "--lengths", "1000000"}) == kBadData);
  BOOST_TEST(exit_code({"compare", trained().toy.path("none")}) == kBadData);
}

BOOST_AUTO_TEST_CASE(an_interrupted_evaluation_goes_on_where_it_stopped) {
  const ToyRun& toy = trained().toy;
  const std::string run = toy.path("interrupted");
  train(toy, "alibi", run);
  const std::vector<int64_t> first = passes(run, 1);  // thrown out at the second length
  BOOST_TEST(first == std::vector<int64_t>{10 * 15}, boost::test_tools::per_element());
  const std::vector<int64_t> second = passes(run, 100);
  BOOST_TEST(second == std::vector<int64_t>{10 * 63}, boost::test_tools::per_element());
  BOOST_TEST(passes(run, 100).empty());
  BOOST_TEST(passes(run, 100, /*again=*/true) == (std::vector<int64_t>{10 * 15, 10 * 63}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(several_runs_and_protocols_in_one_call) {
  const TempFolder folder;
  std::string said;
  const int code = eval(with_short({"--run", trained().alibi, "--run", trained().rope, "--protocol",
                                    "last-token,non-overlapping", "--out", folder.path().string()}),
                        &said);
  BOOST_TEST(code == kDone);
  for (const char* protocol : {"last-token", "non-overlapping"}) {
    const fs::path csv = folder / (std::string(protocol) + ".csv");
    std::set<std::string> runs;
    for (const auto& row : parse_csv(csv.string(), read_file(csv))) runs.insert(row.at(0));
    BOOST_TEST(runs.count(trained().alibi) == 1u);
    BOOST_TEST(runs.count(trained().rope) == 1u);
    BOOST_TEST(fs::exists(folder / (std::string(protocol) + ".json")));
    BOOST_TEST(fs::exists(fs::path(trained().rope) / "eval" / (std::string(protocol) + ".json")));
    BOOST_TEST(said.find(std::string(protocol) + " perplexity ± standard error") !=
               std::string::npos);
  }
  // And set side by side, from what is kept alone.
  BOOST_TEST(eval({"compare", trained().alibi, trained().rope, "--out", (folder / "c").string()},
                  &said) == kDone);
  BOOST_TEST(said.find("1 seed in common with alibi") != std::string::npos, said);
  BOOST_TEST(eval({"compare", trained().alibi, trained().rope, "--pairs", "segments", "--out",
                   (folder / "c").string()},
                  &said) == kDone);
  BOOST_TEST(said.find("4 tests in all 2 tables") != std::string::npos, said);
  BOOST_TEST(fs::exists(folder / "c/non-overlapping.csv"));
}

BOOST_AUTO_TEST_CASE(other_data_than_the_run_was_trained_on_is_refused_unless_asked_for) {
  const ToyRun toy(2);
  const std::string run = toy.path("run");
  train(toy, "alibi", run);
  fs::remove_all(toy.data);
  fs::copy(trained().toy.data, toy.data, fs::copy_options::recursive);
  BOOST_CHECK_EXCEPTION(eval(with_short({"--run", run})), IoError,
                        says("[eval] " + toy.data + ": expected the data that " + run,
                             "got other data", "--data " + toy.data));
  BOOST_TEST(eval(with_short({"--run", run, "--data", toy.data})) == kDone);
}

BOOST_AUTO_TEST_CASE(a_run_whose_path_has_a_comma_is_one_run) {
  const std::string run = trained().toy.path("one, two");
  train(trained().toy, "alibi", run);
  BOOST_TEST(eval(with_short({"--run", run})) == kDone);
  BOOST_TEST(fs::exists(fs::path(run) / "eval/last-token.csv"));
}

// A file stands where results would go: nothing can be written there, not even by root.
BOOST_AUTO_TEST_CASE(a_run_that_cannot_be_written_to_is_measured_into_out) {
  const TempFolder folder;
  const std::string run = trained().toy.path("read-only"), out = (folder / "out").string();
  train(trained().toy, "alibi", run);
  write_file_atomic(fs::path(run) / "eval", "");
  BOOST_CHECK_EXCEPTION(
      eval(with_short({"--run", run})), IoError,
      says("[eval] " + run + "/eval", "; --out FOLDER puts the results elsewhere"));
  std::string said;
  BOOST_TEST(eval(with_short({"--run", run, "--out", out}), &said) == kDone);
  BOOST_TEST(said.find(run +
                       ": cannot be written to, so nothing is kept there for a later call; "
                       "results go to " +
                       out + " alone") != std::string::npos,
             said);
  BOOST_TEST(fs::exists(fs::path(out) / "last-token.csv"));
  BOOST_TEST(fs::is_regular_file(fs::path(run) / "eval"));
}
