// A trained run measured under its own encoding and under others.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <set>
#include <sstream>

#include "apps/cli/csv.h"
#include "apps/cli/options.h"
#include "apps/compare/program.h"
#include "apps/eval/measure.h"
#include "apps/eval/protocols/last_token.h"
#include "apps/eval/protocols/position_wise.h"
#include "apps/eval/protocols/speed.h"
#include "apps/eval/results_plots.h"
#include "apps/plot/gnuplot.h"
#include "apps/train/training_run.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/apps/eval_program.h"
#include "tests/apps/toy_run.h"
#include "tests/support/messages.h"

namespace farfield::eval {
BOOST_AUTO_TEST_SUITE(test_measure)  // ctest: on_cuda
namespace {

namespace fs = std::filesystem;

// A run of kerple_log, trained once for all tests.
struct Trained {
  test::ToyRun toy;
  std::string path = toy.path("run");
  data::Corpus corpus = data::Corpus::open(toy.data);

  Trained() {
    train::TrainingRun run =
        train::TrainingRun::start(run::resolve(toy.config("kerple_log")), path);
    cli::Progress progress = cli::Progress::on_stderr();
    BOOST_TEST_REQUIRE(run.go(progress) == cli::kDone);
  }
  RunResult under(const std::optional<std::string>& posenc, bool drop_learned = false) const {
    EvalOptions eval;
    eval.common.lengths = {16, 64};
    eval.own<LastTokenOptions>().segments = 10;
    eval.common.allow_fewer = true;
    const run::LoadedRun run =
        run::load_run(path, {.posenc = posenc, .drop_learned = drop_learned});
    return measure(run, corpus, "test", "last-token", eval);
  }
};
const Trained& trained() {
  static const Trained one;
  return one;
}

std::vector<double> items(const RunResult& r, size_t length) {
  return r.result.lengths.at(length).items;
}

BOOST_AUTO_TEST_CASE(the_trained_expression_gives_the_same_numbers) {
  const RunResult own = trained().under({}), same = trained().under("kerple_log()");
  BOOST_TEST(own.posenc == "kerple_log");
  BOOST_TEST(same.posenc == "kerple_log");
  BOOST_TEST(!is_changed(same));
  for (const size_t length : {0u, 1u})
    BOOST_TEST(items(own, length) == items(same, length), boost::test_tools::per_element());
  // So does one that changes nothing at these lengths.
  const RunResult wide = trained().under("kerple_log + window(64)");
  BOOST_TEST(is_changed(wide));
  for (const size_t length : {0u, 1u})
    BOOST_TEST(items(own, length) == items(wide, length), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(another_expression_changes_them) {
  const RunResult own = trained().under({}), narrow = trained().under("kerple_log + window(3)");
  BOOST_TEST(items(own, 0) != items(narrow, 0));
  BOOST_TEST(narrow.posenc == "kerple_log + window(w=3)");
  BOOST_TEST(narrow.trained_posenc == "kerple_log");
  // One block that sees three tokens: more context changes nothing.
  for (size_t i = 0; i < items(narrow, 0).size(); ++i)
    BOOST_TEST(items(narrow, 0)[i] == items(narrow, 1)[i], boost::test_tools::tolerance(1e-4));
}

BOOST_AUTO_TEST_CASE(what_does_not_correspond_is_refused_by_name) {
  BOOST_CHECK_EXCEPTION(
      trained().under("alibi"), ConfigError,
      says("[posenc] " + trained().path, "kerple_log.r1, kerple_log.r2", "--drop-learned"));
  BOOST_CHECK_EXCEPTION(trained().under("kerple_logg"), ConfigError, says("kerple_log'"));
  const RunResult other = trained().under("alibi", true);
  BOOST_TEST(items(other, 0) != items(trained().under({}), 0));
}

BOOST_AUTO_TEST_CASE(files_of_another_expression_stand_beside_the_run_s_own) {
  const TempFolder folder;
  const RunResult own = trained().under({}), narrow = trained().under("kerple_log + window(3)"),
                  wide = trained().under("kerple_log + window(5)");
  BOOST_TEST(write_results(folder.path(), {own}).filename() == "last-token.csv");
  const std::string before = read_file(folder / "last-token.csv");
  const fs::path csv = write_results(folder.path(), {narrow});
  BOOST_TEST(csv.filename().string().find("last-token-kerple_log-window-w-3-") == 0u);
  BOOST_TEST(read_file(folder / "last-token.csv") == before);
  write_results(folder.path(), {wide});
  const fs::path both = write_results(folder.path(), {narrow, wide});
  BOOST_TEST(both != write_results(folder.path(), {wide, narrow, own}));
  BOOST_TEST(folder.entries() == 5 * (plot::can_plot() ? 4 : 3));

  const auto rows = cli::parse_csv(csv.string(), read_file(csv));
  BOOST_TEST(rows[1][1] == "kerple_log + window(w=3)");
  BOOST_TEST(rows[1][2] == "kerple_log");
  const std::string table = results_table({narrow});
  BOOST_TEST(table.find("kerple_log + window(w=3) (trained: kerple_log)") != std::string::npos,
             table);
  BOOST_TEST(results_plots({narrow}).at(0).plot.curves[0].label ==
             "kerple_log + window(w=3) (trained: kerple_log)");
}

BOOST_AUTO_TEST_CASE(with_one_layer_a_mask_is_a_fresh_pass_over_the_same_inputs) {
  EvalOptions eval;
  eval.common.lengths = {24};
  eval.common.max_tokens = 200;
  eval.common.allow_fewer = true;
  eval.own<LastTokenOptions>().segments = 10;
  eval.own<PositionWiseOptions>().sequences = 4;
  const auto under = [&](const std::string& protocol, const std::string& name) {
    const Baseline baseline = parse_baseline(name);
    const int64_t window = baseline.kind == Baseline::Kind::masked ? baseline.window : 0;
    const run::LoadedRun run = run::load_run(trained().path, {.window = window});
    return measure(run, trained().corpus, "test", protocol, eval,
                   {.baseline = baseline, .again = true});
  };
  for (const char* protocol : {"last-token", "non-overlapping", "sliding", "position-wise"}) {
    const RunResult masked = under(protocol, "masked@5"), cut = under(protocol, "truncated@5"),
                    whole = under(protocol, "none"), wide = under(protocol, "masked@24"),
                    long_cut = under(protocol, "truncated@24");
    BOOST_TEST(masked.baseline == "masked@5");
    BOOST_TEST(cut.baseline == "truncated@5");
    for (const RunResult* r : {&masked, &cut, &whole}) {
      BOOST_TEST(r->posenc == "kerple_log");
      BOOST_TEST(r->result.lengths[0].failure == "");
      BOOST_TEST(is_changed(*r) == !r->baseline.empty());
    }
    for (size_t i = 0; i < items(masked, 0).size(); ++i)
      BOOST_TEST(items(masked, 0)[i] == items(cut, 0)[i], boost::test_tools::tolerance(1e-5));
    BOOST_TEST(items(masked, 0) != items(whole, 0));
    // A window as long as the rows hides nothing.
    BOOST_TEST(items(wide, 0) == items(whole, 0), boost::test_tools::per_element());
    BOOST_TEST(items(long_cut, 0) == items(whole, 0), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(what_one_protocol_scored_the_next_one_does_not) {
  EvalOptions eval;
  eval.common.lengths = {16};
  eval.common.max_tokens = 161;
  eval.own<PositionWiseOptions>().sequences = 10;
  RowMemory memory;
  const run::LoadedRun run = run::load_run(trained().path);
  int64_t n_tokens = 0;
  const MeasureOptions options = {
      .again = true, .watch = [&](int64_t n) { n_tokens += n; }, .memory = &memory};
  const auto run_one = [&](const char* protocol, const MeasureOptions& with) {
    return measure(run, trained().corpus, "test", protocol, eval, with).result.lengths[0].items;
  };
  const std::vector<double> first = run_one("position-wise", options);
  BOOST_TEST(n_tokens == 160);
  BOOST_TEST(run_one("non-overlapping", options) == first, boost::test_tools::per_element());
  BOOST_TEST(n_tokens == 160);
  BOOST_TEST(run_one("non-overlapping", {.again = true}) == first,
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_is_timed_is_computed_every_time) {
  EvalOptions eval;
  eval.common.lengths = {16};
  eval.common.batch_tokens = 32;
  eval.own<SpeedOptions>().warmup = 1;
  eval.own<SpeedOptions>().timed_steps = eval.own<SpeedOptions>().timed_passes = 3;
  RowMemory memory;
  int64_t n_tokens = 0;
  measure(run::load_run(trained().path), trained().corpus, "test", "speed", eval,
          {.again = true, .watch = [&](int64_t n) { n_tokens += n; }, .memory = &memory});
  BOOST_TEST(n_tokens == 4 * (4 * 16 + 32));  // a batch of training has 4 x 16
}

BOOST_AUTO_TEST_CASE(the_command_shows_baselines_side_by_side_and_warns_once) {
  const auto eval = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {
        "--run", trained().path, "--lengths", "16,40",      "--sequences",
        "4",     "--segments",   "10",        "--protocol", "last-token,position-wise"};
    words.insert(words.end(), more.begin(), more.end());
    return test::run_eval(words);
  };
  const auto [code, text, warnings] = eval({"--baseline", "none,masked@16,truncated@20"});
  BOOST_TEST(code == cli::kDone);
  const auto count_in = [](const std::string& all, const std::string& what) {
    int n = 0;
    for (size_t at = all.find(what); at != std::string::npos; at = all.find(what, at + 1)) ++n;
    return n;
  };
  BOOST_TEST(count_in(warnings, "warning: masked@16 is the model as it is at length 16:") == 1);
  BOOST_TEST(count_in(warnings, "warning: truncated@20 is the model as it is at length 16:") == 1);
  BOOST_TEST(count_in(warnings, "warning") == 2);
  BOOST_TEST(count_in(text, "\nkerple_log masked@16 ") >= 2, text);
  BOOST_TEST(count_in(text, "\nkerple_log truncated@20 ") >= 2, text);
  BOOST_TEST(count_in(text, "still_falling") == 3);
  BOOST_TEST(eval({"--baseline", "masked@0"}).code == cli::kUsage);
}

BOOST_AUTO_TEST_CASE(the_run_itself_stays_as_it_is) {
  const auto files = [] {
    std::set<std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(trained().path))
      if (entry.is_regular_file())
        all.insert(entry.path().string() + ' ' + read_file(entry.path()));
    return all;
  };
  const auto before = files();
  trained().under("kerple_log + window(3)");
  BOOST_TEST((files() == before));
}

BOOST_AUTO_TEST_CASE(pass_keys_are_asked_for_with_the_tokenizer_of_the_run) {
  const auto call = [](const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {trained().path, "--protocol",        "passkey", "--garbage",
                                      "0,40",         "--passkey-prompts", "4",       "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return test::run_eval(words);
  };
  const test::Said said = call();
  BOOST_TEST(said.code == cli::kDone, said.err);
  BOOST_TEST(said.out.find("chance   2e-05   2e-05\n") != std::string::npos, said.out);
  BOOST_TEST(said.out.find("kerple_log at 0: the key ") != std::string::npos, said.out);
  const fs::path folder = fs::path(trained().path) / "eval";
  const std::string csv = read_file(folder / "passkey.csv");
  const auto rows = cli::parse_csv("passkey.csv", csv);
  BOOST_TEST(rows.size() == 1u + 2 * 5);
  BOOST_TEST(csv.find("length: characters of garbage in a prompt") != std::string::npos);
  BOOST_TEST(csv.find(",prompt_tokens,") != std::string::npos);
  BOOST_TEST(read_file(folder / "passkey-series.csv")
                 .find(",accuracy,place of the key (share of the garbage before it),") !=
             std::string::npos);
  BOOST_TEST(fs::exists(folder / "passkey-accuracy.svg") == plot::can_plot());
  // Kept, and the same again in other batches.
  BOOST_TEST(call().out == said.out);
  BOOST_TEST(call({"--again", "--batch-tokens", "1"}).out == said.out);
  BOOST_TEST(read_file(folder / "passkey.csv") == csv);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::eval
