// The program eval on runs that train in a moment.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <iostream>
#include <set>
#include <sstream>

#include "apps/cli/csv.h"
#include "apps/cli/options.h"
#include "apps/compare/program.h"
#include "apps/eval/cells.h"
#include "apps/eval/measure.h"
#include "apps/eval/protocols/last_token.h"
#include "apps/train/training_run.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/apps/toy_run.h"
#include "tests/support/messages.h"
#include "tests/support/source_dir.h"

BOOST_AUTO_TEST_SUITE(test_eval_command)  // ctest: on_cuda

using namespace farfield;
using namespace farfield::eval;
using farfield::test::ToyRun;
namespace fs = std::filesystem;

namespace {

void train_toy(const ToyRun& toy, const std::string& posenc, const std::string& path) {
  train::TrainingRun run = train::TrainingRun::start(run::resolve(toy.config(posenc)), path);
  std::ostringstream nowhere;
  cli::Progress progress(nowhere, false);
  BOOST_TEST_REQUIRE(run.go(progress) == cli::kDone);
}

struct Trained {
  ToyRun toy;
  std::string alibi = toy.path("alibi"), rope = toy.path("rope");
  Trained() {
    train_toy(toy, "alibi", alibi);
    train_toy(toy, "rope", rope);
  }
};
const Trained& trained() {
  static const Trained one;
  return one;
}

int call_eval(std::vector<std::string> words, std::string* said = nullptr,
              std::string* warned = nullptr) {
  words.insert(words.begin(), "eval");
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  std::ostringstream out, err;
  std::streambuf* const before = std::cerr.rdbuf();
  if (warned != nullptr) std::cerr.rdbuf(err.rdbuf());
  const int code = compare::eval_program(static_cast<int>(argv.size()), argv.data(), out);
  std::cerr.rdbuf(before);
  if (said != nullptr) *said = out.str();
  if (warned != nullptr) *warned = err.str();
  return code;
}

// The exit code of the whole program.
int exit_code(std::vector<std::string> words) {
  words.insert(words.begin(), "eval");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return cli::run_main(static_cast<int>(argv.size()), argv.data(), [](int argc, char** all) {
    std::ostringstream out;
    return compare::eval_program(argc, all, out);
  });
}

const std::vector<std::string> kShort = {"--lengths",     "16,64",        "--segments", "10",
                                         "--allow-fewer", "--new-tokens", "24"};

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
  options.own<LastTokenOptions>().segments = 10;
  std::vector<int64_t> told;
  const auto watch = [&](int64_t n) {
    if (told.size() == stop_at) throw Enough();
    told.push_back(n);
  };
  try {
    measure(run::load_run(run), data::Corpus::open(trained().toy.data), "test", "last-token",
            options, {.again = again, .watch = watch});
  } catch (const Enough&) {
  }
  return told;
}

}  // namespace

// Its vocabulary is in bands, so it has no matrix of a head to count rows of, and its scores are
// log-probabilities.
BOOST_AUTO_TEST_CASE(a_model_with_an_adaptive_softmax_is_measured_like_any_other) {
  const ToyRun& toy = trained().toy;
  run::RunConfig config = toy.config("kerple_log");
  config.preset = "baevski-247m";
  config.cutoffs = "100,112";
  const std::string path = toy.path("adaptive");
  train::TrainingRun run = train::TrainingRun::start(run::resolve(config), path);
  std::ostringstream nowhere;
  cli::Progress progress(nowhere, false);
  BOOST_TEST_REQUIRE(run.go(progress) == cli::kDone);
  for (const char* protocol :
       {"last-token", "non-overlapping", "gradient", "coherence", "cached"}) {
    std::string said;
    BOOST_TEST(call_eval(with_short({"--run", path, "--protocol", protocol}), &said) == 0,
               protocol);
    BOOST_TEST(said.find("kerple_log") != std::string::npos, said);
    BOOST_TEST(said.find("nan") == std::string::npos, said);
  }
}

BOOST_AUTO_TEST_CASE(an_encoder_on_text_is_measured_at_its_masked_tokens_alone) {
  const ToyRun& toy = trained().toy;
  run::RunConfig config = toy.config("sinusoidal");
  config.mask = "none";
  const std::string path = toy.path("encoder");
  train::TrainingRun run = train::TrainingRun::start(run::resolve(config), path);
  std::ostringstream nowhere;
  cli::Progress progress(nowhere, false);
  BOOST_TEST_REQUIRE(run.go(progress) == cli::kDone);
  std::string said, named;
  BOOST_TEST(call_eval({path, "--lengths", "16,32"}, &said) == cli::kDone);
  BOOST_TEST(said.find("masked perplexity") != std::string::npos, said);
  BOOST_TEST(said.find("bits per byte") == std::string::npos, said);
  BOOST_TEST(call_eval({path, "--lengths", "16,32", "--protocol", "masked"}, &named) == cli::kDone);
  BOOST_TEST(named == said);
  for (const Protocol& protocol : protocols()) {
    if (protocol.is_of_masked) continue;
    BOOST_CHECK_EXCEPTION(
        call_eval({path, "--protocol", protocol.name}), ConfigError,
        says("[eval] bad_argument: --protocol " + protocol.name, "--protocol masked measures it"));
  }
  BOOST_CHECK_EXCEPTION(call_eval({path, trained().alibi}), ConfigError,
                        says("--protocol masked measures it"));
  BOOST_CHECK_EXCEPTION(call_eval({trained().alibi, "--protocol", "masked", "--lengths", "16"}),
                        ConfigError, says("expected an encoder that was trained on masked text"));
  BOOST_CHECK_EXCEPTION(call_eval({path, "--lengths", "16", "--baseline", "masked@8"}), ConfigError,
                        says("for an encoder"));
  BOOST_CHECK_EXCEPTION(call_eval({path, "--lengths", "16", "--baseline", "truncated@8"}),
                        ConfigError, says("expected a model to look inside, got truncated@8"));
}

BOOST_AUTO_TEST_CASE(the_list_explains_every_protocol_and_measures_nothing) {
  std::string said;
  BOOST_TEST(call_eval({"--list"}, &said) == cli::kDone);
  for (const Protocol& protocol : protocols()) {
    BOOST_TEST(said.find(protocol.name + ": " + protocol.help) != std::string::npos, said);
    BOOST_TEST(said.find(protocol.source) != std::string::npos, said);
  }
  BOOST_CHECK_EXCEPTION(call_eval({"--markdown"}), ConfigError,
                        says("[eval] bad_argument: --markdown: expected --list with it"));
}

BOOST_AUTO_TEST_CASE(the_table_of_the_readme_is_that_of_the_list) {
  std::string said;
  BOOST_TEST(call_eval({"--list", "--markdown"}, &said) == cli::kDone);
  BOOST_TEST(
      read_file(source_dir() / "apps/eval/README.md").find('\n' + said + '\n') != std::string::npos,
      "apps/eval/README.md lacks the table that `eval --list --markdown` prints:\n"
          << said);
}

BOOST_AUTO_TEST_CASE(help_has_the_options_of_every_protocol_and_names_compare) {
  std::string said;
  BOOST_TEST(call_eval({"--help"}, &said) == cli::kDone);
  for (const char* part : {"--run", "--protocol", "--segments", "--budget", "--again",
                           "eval compare", "(default: last-token)"})
    BOOST_TEST(said.find(part) != std::string::npos, part << " in\n" << said);
}

BOOST_AUTO_TEST_CASE(bad_requests_say_what_to_do) {
  BOOST_CHECK_EXCEPTION(call_eval({}), ConfigError,
                        says("[eval] bad_argument: expected the folder of a run"));
  BOOST_CHECK_EXCEPTION(
      call_eval({"--run", trained().alibi, "--protocol", "last-tokn"}), ConfigError,
      says("bad_argument: --protocol: ", "'last-tokn'", "did you mean 'last-token'?"));
  const std::string folder = trained().toy.folder.path().string();
  BOOST_CHECK_EXCEPTION(call_eval({"--run", folder + "/none"}), IoError,
                        says("[run] " + folder + "/none: expected the folder of a run"));
  BOOST_CHECK_THROW(call_eval({"--run", folder}), IoError);
  BOOST_CHECK_EXCEPTION(
      call_eval({"--run", trained().alibi, "--lengths", "1000000"}), IoError,
      says("[eval:last-token] not_enough_data: expected at least 1000000 tokens", "got "));
  BOOST_CHECK_EXCEPTION(call_eval({"--run", trained().alibi, "--lengths", "1"}), ConfigError,
                        says("[eval:last-token] length_too_short"));
}

BOOST_AUTO_TEST_CASE(exit_codes_tell_requests_from_data) {
  BOOST_TEST(exit_code({}) == cli::kUsage);
  BOOST_TEST(exit_code({"--run", trained().alibi, "--protocol", "last-tokn"}) == cli::kUsage);
  BOOST_TEST(exit_code({"--run", trained().alibi, "--lengths", "1"}) == cli::kUsage);
  BOOST_TEST(exit_code({"--run", trained().toy.path("none")}) == cli::kBadData);
  BOOST_TEST(exit_code({"--run", trained().alibi, "--lengths", "1000000"}) == cli::kBadData);
  BOOST_TEST(exit_code({"compare", trained().toy.path("none")}) == cli::kBadData);
}

BOOST_AUTO_TEST_CASE(an_interrupted_evaluation_goes_on_where_it_stopped) {
  const ToyRun& toy = trained().toy;
  const std::string run = toy.path("interrupted");
  train_toy(toy, "alibi", run);
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
  const int code =
      call_eval(with_short({"--run", trained().alibi, "--run", trained().rope, "--protocol",
                            "last-token,non-overlapping", "--out", folder.path().string()}),
                &said);
  BOOST_TEST(code == cli::kDone);
  for (const char* protocol : {"last-token", "non-overlapping"}) {
    const fs::path csv = folder / (std::string(protocol) + ".csv");
    std::set<std::string> runs;
    for (const auto& row : cli::parse_csv(csv.string(), read_file(csv))) runs.insert(row.at(0));
    BOOST_TEST(runs.count(trained().alibi) == 1u);
    BOOST_TEST(runs.count(trained().rope) == 1u);
    BOOST_TEST(fs::exists(folder / (std::string(protocol) + ".json")));
    BOOST_TEST(fs::exists(fs::path(trained().rope) / "eval" / (std::string(protocol) + ".json")));
    BOOST_TEST(said.find(std::string(protocol) + " perplexity ± standard error") !=
               std::string::npos);
  }
  // And set side by side, from what is kept alone.
  BOOST_TEST(
      call_eval({"compare", trained().alibi, trained().rope, "--out", (folder / "c").string()},
                &said) == cli::kDone);
  BOOST_TEST(said.find("1 seed in common with alibi") != std::string::npos, said);
  BOOST_TEST(call_eval({"compare", trained().alibi, trained().rope, "--pairs", "segments", "--out",
                        (folder / "c").string()},
                       &said) == cli::kDone);
  BOOST_TEST(said.find("4 tests in all 2 tables") != std::string::npos, said);
  BOOST_TEST(fs::exists(folder / "c/non-overlapping.csv"));
}

BOOST_AUTO_TEST_CASE(other_data_than_the_run_was_trained_on_is_refused_unless_asked_for) {
  const ToyRun toy(2);
  const std::string run = toy.path("run");
  train_toy(toy, "alibi", run);
  fs::remove_all(toy.data);
  fs::copy(trained().toy.data, toy.data, fs::copy_options::recursive);
  BOOST_CHECK_EXCEPTION(call_eval(with_short({"--run", run})), IoError,
                        says("[eval] " + toy.data + ": expected the data that " + run,
                             "got other data", "--data " + toy.data));
  BOOST_TEST(call_eval(with_short({"--run", run, "--data", toy.data})) == cli::kDone);
}

BOOST_AUTO_TEST_CASE(a_run_whose_path_has_a_comma_is_one_run) {
  const std::string run = trained().toy.path("one, two");
  train_toy(trained().toy, "alibi", run);
  BOOST_TEST(call_eval(with_short({"--run", run})) == cli::kDone);
  BOOST_TEST(fs::exists(fs::path(run) / "eval/last-token.csv"));
}

// A file stands where results would go: nothing can be written there, not even by root.
BOOST_AUTO_TEST_CASE(a_run_that_cannot_be_written_to_is_measured_into_out) {
  const TempFolder folder;
  const std::string run = trained().toy.path("read-only"), out = (folder / "out").string();
  train_toy(trained().toy, "alibi", run);
  write_file_atomic(fs::path(run) / "eval", "");
  BOOST_CHECK_EXCEPTION(
      call_eval(with_short({"--run", run})), IoError,
      says("[file] " + run + "/eval", "; --out FOLDER puts the results elsewhere"));
  std::string said, warned;
  BOOST_TEST(call_eval(with_short({"--run", run, "--out", out}), &said, &warned) == cli::kDone);
  BOOST_TEST(warned.find(run +
                         ": cannot be written to, so nothing is kept there for a later call; "
                         "results go to " +
                         out + " alone") != std::string::npos,
             warned);
  BOOST_TEST(fs::exists(fs::path(out) / "last-token.csv"));
  BOOST_TEST(fs::is_regular_file(fs::path(run) / "eval"));
}

namespace {

// Rows of a CSV whose columns have these values.
size_t count_rows(const fs::path& csv,
                  const std::vector<std::pair<std::string, std::string>>& columns) {
  const auto rows = cli::parse_csv(csv.string(), read_file(csv));
  const auto place = [&](const std::string& name) {
    const auto found = std::find(rows[0].begin(), rows[0].end(), name);
    BOOST_TEST_REQUIRE((found != rows[0].end()), name);
    return static_cast<size_t>(found - rows[0].begin());
  };
  size_t n = 0;
  for (size_t i = 1; i < rows.size(); ++i)
    n += std::all_of(columns.begin(), columns.end(),
                     [&](const auto& c) { return rows[i].at(place(c.first)) == c.second; })
             ? 1
             : 0;
  return n;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_tables_of_a_run_hold_everything_that_was_finished) {
  const ToyRun& toy = trained().toy;
  const std::string run = toy.path("tables");
  train_toy(toy, "alibi", run);
  const fs::path csv = fs::path(run) / "eval/last-token.csv",
                 items = fs::path(run) / "eval/last-token-items.csv";
  const std::vector<std::string> base = {"--run", run, "--segments", "10", "--allow-fewer"};
  const auto call = [&](std::vector<std::string> more) {
    more.insert(more.begin(), base.begin(), base.end());
    return call_eval(more);
  };
  BOOST_TEST(call({"--lengths", "64,16"}) == cli::kDone);
  const std::string first = read_file(csv);
  BOOST_TEST(call({"--lengths", "32"}) == cli::kDone);  // other segments: longest=32
  BOOST_TEST(call({"--lengths", "16,64", "--split", "valid"}) == cli::kDone);
  BOOST_TEST(call({"--lengths", "16,64", "--posenc", "alibi + window(4)"}) == cli::kDone);
  BOOST_TEST(call({"--lengths", "16,64", "--step", "4", "--baseline", "masked@4"}) == cli::kDone);
  using Columns = std::vector<std::pair<std::string, std::string>>;
  const auto n_at = [&](Columns columns) {
    columns.emplace_back("quantity", "perplexity");
    return count_rows(csv, columns);
  };
  BOOST_TEST(n_at({}) == 9u);
  BOOST_TEST(n_at({{"length", "32"}}) == 1u);
  BOOST_TEST(n_at({{"split", "valid"}}) == 2u);
  BOOST_TEST(n_at({{"posenc", "alibi + window(w=4)"}, {"trained_posenc", "alibi"}}) == 2u);
  BOOST_TEST(n_at({{"step", "4"}, {"baseline", "masked@4"}}) == 2u);
  BOOST_TEST(count_rows(items, {}) == 90u);
  BOOST_TEST(count_rows(items, {{"predicted_at", ""}}) == 0u);
  // The first call's rows are there as they were, and asking for them again changes nothing.
  std::set<std::string> rows;
  std::istringstream text(read_file(csv)), before(first);
  for (std::string line; std::getline(text, line);) rows.insert(line);
  for (std::string line; std::getline(before, line);) BOOST_TEST(rows.count(line) == 1u, line);
  const std::string whole = read_file(csv);
  BOOST_TEST(call({"--lengths", "64,16"}) == cli::kDone);
  BOOST_TEST(read_file(csv) == whole);
}

BOOST_AUTO_TEST_CASE(a_damaged_cell_costs_its_own_rows_alone) {
  const std::string run = trained().toy.path("damaged");
  train_toy(trained().toy, "alibi", run);
  BOOST_TEST(call_eval(with_short({"--run", run})) == cli::kDone);
  for (const auto& entry : fs::directory_iterator(fs::path(run) / "eval/cells"))
    if (entry.path().filename().string().find("last-token-16-") == 0)
      write_file_atomic(entry.path(), "{}");
  BOOST_TEST(call_eval({"--run", run, "--lengths", "64", "--segments", "10", "--allow-fewer"}) ==
             cli::kDone);
  const fs::path csv = fs::path(run) / "eval/last-token.csv";
  BOOST_TEST(count_rows(csv, {{"length", "16"}}) == 0u);
  BOOST_TEST(count_rows(csv, {{"length", "64"}, {"quantity", "perplexity"}}) == 1u);
  BOOST_TEST(call_eval(with_short({"--run", run})) == cli::kDone);  // measured again
  BOOST_TEST(count_rows(csv, {{"length", "16"}, {"quantity", "perplexity"}}) == 1u);
}

BOOST_AUTO_TEST_CASE(cells_from_before_places_were_kept_get_them_and_keep_their_numbers) {
  const std::string run = trained().toy.path("old");
  train_toy(trained().toy, "alibi", run);
  BOOST_TEST(call_eval(with_short({"--run", run})) == cli::kDone);
  const fs::path items = fs::path(run) / "eval/last-token-items.csv";
  const std::string now = read_file(items);
  // The same cells as they were written then.
  const fs::path cells = fs::path(run) / "eval/cells";
  for (const KeptCell& kept : read_cells(cells)) {
    const run::Settings key = run::without(kept.key, {"draw", "protocol", "parameters", "length"});
    LengthResult cell = kept.result.lengths.front();
    cell.places.clear();
    CellFiles(cells, key, {}).keep(0, kept.result, cell);
  }
  BOOST_TEST(read_cells(cells).size() == 2u);
  BOOST_TEST(read_cells(cells)[0].result.lengths[0].places.empty());
  BOOST_TEST(call_eval(with_short({"--run", run})) == cli::kDone);
  BOOST_TEST(read_file(items) == now);
}

BOOST_AUTO_TEST_CASE(a_length_that_failed_stands_in_the_tables_of_its_call) {
  const std::string run = trained().toy.path("learned");
  train_toy(trained().toy, "learned_abs", run);
  BOOST_TEST(call_eval(with_short({"--run", run})) == cli::kFailed);
  const fs::path csv = fs::path(run) / "eval/last-token.csv";
  BOOST_TEST(count_rows(csv, {{"length", "64"},
                              {"quantity", "failure"},
                              {"value", "position_out_of_range"}}) == 1u);
  BOOST_TEST(count_rows(csv, {{"length", "64"}, {"quantity", "perplexity"}, {"value", "nan"}}) ==
             1u);
  BOOST_TEST(count_rows(csv, {{"length", "16"}, {"quantity", "perplexity"}}) == 1u);
}

BOOST_AUTO_TEST_CASE(draws_are_one_row_with_the_mean_of_all_that_are_finished) {
  const std::string run = trained().toy.path("random");
  train_toy(trained().toy, "randomized(max_positions=128) + rope", run);
  const fs::path csv = fs::path(run) / "eval/last-token.csv";
  for (const char* draws : {"2", "3", "1"})
    BOOST_TEST(call_eval(with_short({"--run", run, "--draws", draws})) == cli::kDone);
  BOOST_TEST(count_rows(csv, {{"quantity", "perplexity"}}) == 2u);
  BOOST_TEST(count_rows(csv, {{"quantity", "draws"}, {"value", "3"}}) == 2u);
}

BOOST_AUTO_TEST_CASE(a_name_is_given_by_train_and_changed_by_resume) {
  const ToyRun& toy = trained().toy;
  run::RunConfig config = toy.config("alibi");
  config.name = "first";
  const std::string path = toy.path("named");
  std::ostringstream nowhere;
  cli::Progress progress(nowhere, false);
  {
    train::TrainingRun run = train::TrainingRun::start(run::resolve(config), path);
    BOOST_TEST(run.go(progress, 4) == cli::kStopped);
  }
  config.name = "second name";
  {
    train::TrainingRun run = train::TrainingRun::resume(run::resolve(config), path);
    BOOST_TEST(run.go(progress) == cli::kDone);
  }
  BOOST_TEST(run::value_of(run::RunFolder::open(path).config(), "name") == "second name");
  std::string said;
  BOOST_TEST(call_eval(with_short({"--run", path}), &said) == cli::kDone);
  BOOST_TEST(said.find("\nsecond name ") != std::string::npos, said);
  const fs::path csv = fs::path(path) / "eval/last-token.csv";
  BOOST_TEST(count_rows(csv, {{"name", "second name"}, {"posenc", "alibi"}}) ==
             count_rows(csv, {}));
  // Set beside another run, in a table that goes by the name.
  const TempFolder folder;
  BOOST_TEST(call_eval(with_short({"--run", trained().rope})) == cli::kDone);
  BOOST_TEST(call_eval({"compare", path, trained().rope, "--reference", "second name", "--out",
                        (folder / "c").string()},
                       &said) == cli::kDone);
  BOOST_TEST(said.find("\nsecond name ") != std::string::npos, said);
  BOOST_TEST(said.find("rope: 1 seed in common with second name") != std::string::npos, said);
  BOOST_TEST(count_rows(folder / "c/last-token.csv", {{"encoding", "alibi"}}) > 0u);
  BOOST_TEST(count_rows(folder / "c/last-token.csv", {{"reference", "alibi"}}) ==
             count_rows(folder / "c/last-token.csv", {}));
}

BOOST_AUTO_TEST_CASE(unlike_models_say_so_in_their_labels) {
  std::string said;
  BOOST_TEST(call_eval(with_short({"--run", trained().alibi, "--step", "4"})) == cli::kDone);
  const ToyRun& toy = trained().toy;
  run::RunConfig config = toy.config("alibi");
  config.d_model = 32;
  config.d_ff = 128;
  const std::string path = toy.path("wide");
  {
    train::TrainingRun run = train::TrainingRun::start(run::resolve(config), path);
    std::ostringstream nowhere;
    cli::Progress progress(nowhere, false);
    BOOST_TEST(run.go(progress, 4) == cli::kStopped);
  }
  BOOST_TEST(call_eval(with_short({"--run", trained().alibi, "--run", path}), &said) == cli::kDone);
  BOOST_TEST(said.find("\nalibi d-model=16 d-ff=64 step=8 tokens=512 ") != std::string::npos, said);
  BOOST_TEST(said.find("\nalibi d-model=32 d-ff=128 step=4 tokens=256 ") != std::string::npos,
             said);
}

BOOST_AUTO_TEST_SUITE_END()
