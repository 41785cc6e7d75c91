#include <boost/test/unit_test.hpp>
#include <sstream>

#include "apps/eval/measure.h"
#include "apps/eval/progress.h"
#include "apps/eval/protocols/coherence.h"
#include "apps/eval/protocols/gradient.h"
#include "apps/eval/protocols/last_token.h"
#include "apps/eval/protocols/passkey.h"
#include "apps/eval/protocols/position_wise.h"
#include "apps/eval/protocols/speed.h"
#include "apps/train/training_run.h"
#include "tests/apps/toy_run.h"

BOOST_AUTO_TEST_SUITE(test_eval_progress)

using namespace farfield;
using namespace farfield::eval;
using farfield::test::toy;

namespace {

EvalOptions options() {
  EvalOptions eval;
  eval.protocols = {"last-token", "reach"};
  eval.common.lengths = {16, 64};
  eval.own<LastTokenOptions>().segments = 10;
  return eval;
}

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_left_counts_all_models_protocols_and_lengths) {
  std::ostringstream out;
  {
    cli::Progress lines(out, false);
    EvalProgress progress(lines, options(), 2);
    progress.begin({.text_size = 1000, .train_len = 16});
    progress.begin("last-token", "alibi, last-token");
    BOOST_TEST(progress.tokens_left() == 2 * 10 * (16 + 64));
    progress.pass(100);
    BOOST_TEST(progress.tokens_left() == 1600);  // the pass is not over
    progress.pass(60);
    BOOST_TEST(progress.tokens_left() == 1500);
    progress.finish(16);
    BOOST_TEST(progress.tokens_left() == 1440);
    progress.finish(64);  // kept by an earlier call
    BOOST_TEST(progress.tokens_left() == 800);
    progress.begin("reach", "alibi, reach");
    progress.finish(16);
    progress.finish(64);
    BOOST_TEST(progress.tokens_left() == 800);
    progress.begin({.text_size = 1000, .train_len = 16});
    progress.begin("last-token", "rope, last-token");
    BOOST_TEST(progress.tokens_left() == 800);
    progress.pass(160);
    progress.finish(16);
    progress.pass(640);
    progress.finish(64);
    BOOST_TEST(progress.tokens_left() == 0);
  }
  BOOST_TEST(out.str().find("alibi, last-token at 16: 160 tokens, ") == 0u, out.str());
  BOOST_TEST(count(out.str(), "\n") == 3, out.str());
  BOOST_TEST(count(out.str(), " left\n") == 2, out.str());
  BOOST_TEST(out.str().ends_with("rope, last-token at 64: 640 tokens\n"), out.str());
}

BOOST_AUTO_TEST_CASE(a_terminal_sees_the_length_the_rate_and_what_is_left) {
  std::ostringstream out;
  cli::Progress lines(out, true);
  EvalProgress progress(lines, options(), 1);
  progress.begin({.text_size = 1000, .train_len = 16});
  progress.begin("last-token", "alibi, last-token");
  progress.pass(160);
  BOOST_TEST(out.str().find("alibi, last-token at 16: 0 tokens, 0 tokens/s") == 0u, out.str());
}

// Estimates of what Subject::watch is told, held against it.
BOOST_AUTO_TEST_CASE(the_work_of_every_protocol_is_about_what_it_turns_out_to_be) {
  train::TrainingRun run =
      train::TrainingRun::start(run::resolve(toy().config("alibi")), toy().path("alibi"));
  const data::Corpus corpus = data::Corpus::open(toy().data);
  EvalOptions eval = options();
  eval.common.max_tokens = 400;
  eval.common.batch_tokens = 128;
  eval.own<PositionWiseOptions>().sequences = 4;
  eval.own<GradientOptions>().segments = 4;
  eval.own<SpeedOptions>().warmup = 1;
  eval.own<SpeedOptions>().timed_steps = eval.own<SpeedOptions>().timed_passes = 3;
  eval.own<CoherenceOptions>() = {.sequences = 4, .prompts = 2, .n_new = 8};
  eval.own<PasskeyOptions>() = {.garbage = {0, 40}, .prompts = 2};
  for (const char* name : {"none", "truncated@5"}) {
    const Baseline baseline = parse_baseline(name);
    for (const Protocol& protocol : protocols()) {
      if (baseline.window > 0 && protocol.needs_model) continue;
      if (protocol.needs_task || protocol.is_of_masked) continue;  // measures other runs
      int64_t told = 0;
      measure(run::load_run(toy().path("alibi")), corpus, "test", protocol.name, eval,
              {.baseline = baseline, .again = true, .watch = [&](int64_t n) { told += n; }});
      double expected = 0;
      for (const CellWork& cell : work_of(protocol.name, eval,
                                          {.text_size = corpus.split("test").size(),
                                          .train_len = 16,
                                          .step_tokens = 64,
                                          .baseline = baseline}))
        expected += cell.tokens;
      const auto got = static_cast<double>(told);
      BOOST_TEST((expected <= 2 * got && got <= 2 * expected),
                 protocol.name << ' ' << name << ": told of " << told << ", expected " << expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_protocol_with_lengths_of_its_own_has_a_cell_for_each_even_0) {
  EvalOptions eval = options();
  eval.protocols = {"passkey"};
  eval.own<PasskeyOptions>() = {.garbage = {0, 40}, .prompts = 2};
  const std::vector<CellWork> cells = work_of("passkey", eval, {.train_len = 16});
  BOOST_TEST_REQUIRE(cells.size() == 2u);
  BOOST_TEST(cells[1].tokens - cells[0].tokens == 80);
  std::ostringstream out;
  cli::Progress lines(out, false);
  EvalProgress progress(lines, eval, 1);
  progress.begin({.train_len = 16});
  progress.begin("passkey", "alibi, passkey");
  progress.pass(500);
  progress.finish(0);
  BOOST_TEST(progress.tokens_left() == cells[1].tokens);
  BOOST_TEST(out.str().find("alibi, passkey at 0: 500 tokens, ") == 0u, out.str());
}

BOOST_AUTO_TEST_SUITE_END()
