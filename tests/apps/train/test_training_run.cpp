#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "apps/cli/signals.h"
#include "apps/plot/gnuplot.h"
#include "apps/run/load_run.h"
#include "apps/train/training_run.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/apps/toy_run.h"
#include "tests/apps/train/training_calls.h"
#include "tests/support/messages.h"
#include "tests/support/on_cuda.h"

BOOST_AUTO_TEST_SUITE(test_training_run)  // ctest: threads on_cuda

using namespace farfield;
using namespace farfield::train;
using farfield::test::bytes;
using farfield::test::go;
using farfield::test::metrics;
using farfield::test::toy;
namespace fs = std::filesystem;

namespace {

void poison(const std::vector<Parameter>& parameters) {
  Tensor grad = parameters[0].value.grad();
  grad.data<float>()[0] = std::numeric_limits<float>::infinity();
}

}  // namespace

// Event files change nothing of a run, and a resumed run has a second one.
BOOST_AUTO_TEST_CASE(event_files_stand_beside_the_metrics) {
  run::RunConfig config = toy().config();
  config.posenc = "kerple_log";
  const std::string without = toy().path("plain"), with = toy().path("events");
  TrainingRun plain = TrainingRun::start(run::resolve(config), without);
  BOOST_TEST(go(plain) == cli::kDone);
  {
    TrainingRun run = TrainingRun::start(run::resolve(config), with);
    run.write_events();
    BOOST_TEST(go(run, 4) == cli::kStopped);
  }
  TrainingRun run = TrainingRun::resume(run::resolve(config), with);
  run.write_events();
  BOOST_TEST(go(run) == cli::kDone);
  BOOST_CHECK(bytes(with, 8, "model.safetensors") == bytes(without, 8, "model.safetensors"));
  std::string events;
  int n_file = 0;
  for (const auto& entry : fs::directory_iterator(with)) {
    if (entry.path().filename().string().find("tfevents") == std::string::npos) continue;
    events += read_file(entry.path());
    ++n_file;
  }
  BOOST_TEST(n_file == 2);
  for (const char* tag : {"loss/train", "loss/valid", "optimizer/lr", "speed/tokens_per_s"})
    BOOST_TEST(events.find(tag) != std::string::npos, tag);
  if (plot::can_plot()) {
    BOOST_TEST(events.find("encoding/bias, layer 0") != std::string::npos);
    BOOST_TEST(events.find("PNG") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_stopped_and_resumed_run_equals_one_in_one_go) {
  const run::RunConfig config = toy().config();
  const std::string one = toy().path("one"), two = toy().path("two");
  {
    TrainingRun run = TrainingRun::start(run::resolve(config), one);
    BOOST_TEST(go(run) == cli::kDone);
  }
  {
    TrainingRun run = TrainingRun::start(run::resolve(config), two);
    std::string said;
    BOOST_TEST(go(run, 3, &said) == cli::kStopped);
    BOOST_TEST(said.find("stopped after step 3 of 8; continue with --resume " + two) !=
               std::string::npos);
  }
  {
    TrainingRun run = TrainingRun::resume(run::resolve(config), two);
    BOOST_TEST(go(run) == cli::kDone);
  }
  for (const char* file : {"model.safetensors", "optimizer.safetensors"})
    BOOST_CHECK(bytes(one, 8, file) == bytes(two, 8, file));
  BOOST_CHECK(metrics(one) == metrics(two));
  BOOST_TEST(metrics(one).size() == 5u);  // header, steps 2, 4, 6, 8
  const auto manifest = nlohmann::json::parse(read_file(fs::path(two) / "manifest.json"));
  BOOST_TEST(manifest["resumed"].size() == 1u);
  BOOST_TEST(manifest["resumed"][0]["step"] == 3);
  for (const auto& call : {manifest["started"], manifest["resumed"][0]})
    for (const char* key : {"instruction_set", "bf16_products"})
      BOOST_TEST(!call["hardware"].value(key, "").empty(), key);
}

BOOST_AUTO_TEST_CASE(a_finished_run_says_so_and_is_left_as_it_is) {
  const std::string path = toy().path("finished");
  {
    TrainingRun run = TrainingRun::start(run::resolve(toy().config()), path);
    BOOST_TEST_REQUIRE(go(run) == cli::kDone);
  }
  const std::string before = bytes(path, 8, "state.json"),
                    manifest = read_file(path + "/manifest.json");
  TrainingRun again = TrainingRun::resume(run::resolve(toy().config()), path);
  std::string said;
  BOOST_TEST(go(again, {}, &said) == cli::kDone);
  BOOST_TEST(said.find("this run is finished: step 8 of 8") != std::string::npos, said);
  BOOST_TEST(said.find("train --config " + path + "/config.conf --steps N") != std::string::npos,
             said);
  BOOST_TEST(bytes(path, 8, "state.json") == before);
  BOOST_TEST(read_file(path + "/manifest.json") == manifest);
}

BOOST_AUTO_TEST_CASE(the_saved_configuration_repeats_the_run) {
  const std::string first = toy().path("first"), again = toy().path("again");
  {
    TrainingRun run = TrainingRun::start(run::resolve(toy().config("rope")), first);
    go(run);
  }
  run::RunConfig config = run::to_run_config("config.conf", run::RunFolder::open(first).config());
  run::resolve(config);
  TrainingRun run = TrainingRun::start(run::resolve(config), again);
  go(run);
  BOOST_CHECK(bytes(first, 8, "model.safetensors") == bytes(again, 8, "model.safetensors"));
  BOOST_CHECK(read_file(fs::path(first) / "config.conf") ==
              read_file(fs::path(again) / "config.conf"));
}

BOOST_AUTO_TEST_CASE(a_run_killed_after_its_checkpoint_repeats_no_row) {
  const run::RunConfig config = toy().config();
  const std::string path = toy().path("killed");
  {
    TrainingRun run = TrainingRun::start(run::resolve(config), path);
    go(run);
  }
  // As if killed between the rows of steps 6 and 8 and the checkpoints of those steps.
  fs::remove_all(fs::path(path) / "checkpoints/step-00000008");
  fs::remove_all(fs::path(path) / "checkpoints/step-00000006");
  TrainingRun run = TrainingRun::resume(run::resolve(config), path);
  BOOST_TEST(metrics(path).size() == 3u);
  go(run);
  BOOST_TEST(metrics(path).size() == 5u);
}

BOOST_AUTO_TEST_CASE(a_signal_ends_the_run_resumably_after_the_step) {
  for (const int which : {SIGINT, SIGTERM, SIGUSR1}) {
    const std::string path = toy().path("signal" + std::to_string(which));
    const cli::StopSignals signals;
    TrainingRun run = TrainingRun::start(run::resolve(toy().config()), path);
    run.trainer().call_after_backward([&](int64_t step, const std::vector<Parameter>&) {
      if (step == 3) ::raise(which);
    });
    std::string said;
    BOOST_TEST(go(run, {}, &said) == cli::kStopped);
    BOOST_TEST(said.find("stopped on request after step 3 of 8") != std::string::npos);
    BOOST_TEST(run::load_newest_checkpoint(run.folder().checkpoints()).state.step == 3);
  }
}

namespace {
// Asks for a stop in the middle of a step; its grace time is over at once.
std::atomic<int64_t> questions{0}, raise_at{0};
bool raise_and_ask() {
  if (++questions == raise_at) ::kill(::getpid(), SIGTERM);  // asked by threads without signals too
  return cli::stop_is_due();
}
}  // namespace

BOOST_AUTO_TEST_CASE(a_step_beyond_its_grace_time_is_given_up_and_repeated) {
  const std::string whole = toy().path("uninterrupted"), path = toy().path("given-up");
  {
    TrainingRun run = TrainingRun::start(run::resolve(toy().config()), whole);
    go(run);
  }
  bool is_new = true;
  // A device is asked between two ops alone, and no more once it repeats a recorded step.
  const std::vector<int64_t> moments = test::is_on_cuda()
                                           ? std::vector<int64_t>{1, 5, 9, 13, 17}
                                           : std::vector<int64_t>{1, 40, 100, 250, 350};
  for (const int64_t at : moments) {
    const cli::StopSignals signals("", std::chrono::seconds(0));
    TrainingRun run = is_new ? TrainingRun::start(run::resolve(toy().config()), path)
                             : TrainingRun::resume(run::resolve(toy().config()), path);
    is_new = false;
    run.trainer().give_up_when(raise_and_ask);
    questions = 0;
    raise_at = at;
    std::string said;
    BOOST_TEST(go(run, {}, &said) == cli::kStopped);
    BOOST_TEST(said.find("was given up") != std::string::npos, said);
    BOOST_TEST(said.find("stopped on request after step ") != std::string::npos, said);
    BOOST_TEST(run::load_newest_checkpoint(run.folder().checkpoints()).state.step ==
               run.trainer().state().step);
  }
  TrainingRun run = TrainingRun::resume(run::resolve(toy().config()), path);
  BOOST_TEST(go(run) == cli::kDone);
  for (const char* file : {"model.safetensors", "optimizer.safetensors"})
    BOOST_CHECK(bytes(whole, 8, file) == bytes(path, 8, file));
}

BOOST_AUTO_TEST_CASE(a_signal_while_a_run_starts_leaves_a_run_to_resume_or_nothing) {
  {
    const cli::StopSignals signals;
    ::raise(SIGTERM);
    TrainingRun run = TrainingRun::start(run::resolve(toy().config()), toy().path("early"));
    std::string said;
    BOOST_TEST(go(run, {}, &said) == cli::kStopped);
    BOOST_TEST(said.find("stopped on request after step 0 of 8") != std::string::npos, said);
  }
  BOOST_CHECK_NO_THROW(TrainingRun::resume(run::resolve(toy().config()), toy().path("early")));
  const cli::StopSignals signals("", std::chrono::seconds(0));
  ::raise(SIGTERM);
  BOOST_CHECK_THROW(TrainingRun::start(run::resolve(toy().config()), toy().path("too-early")),
                    Interrupted);
  BOOST_TEST(!fs::exists(toy().path("too-early")));
}

BOOST_AUTO_TEST_CASE(a_start_that_fails_in_its_first_step_is_in_nobodys_way) {
  const std::string path = toy().path("again-and-again");
  for (int i = 0; i < 2; ++i) {
    TrainingRun run = TrainingRun::start(run::resolve(toy().config()), path);
    run.trainer().call_after_backward([](int64_t, const std::vector<Parameter>&) {
      fail<BackendError>("cuda", "out of memory");
    });
    BOOST_CHECK_THROW(go(run), BackendError);
    BOOST_TEST(!fs::exists(path));
  }
  {
    TrainingRun run = TrainingRun::start(run::resolve(toy().config()), path);
    run.trainer().call_after_backward([](int64_t, const std::vector<Parameter>& p) { poison(p); });
    BOOST_CHECK_EXCEPTION(go(run), Error,
                          says("[train] step 1: expected finite numbers",
                               "; nothing is kept of this run; --nonfinite skip or rewind"));
    BOOST_TEST(!fs::exists(path));
  }
  // What was stopped, or killed, has a state to go on from: so it stays.
  {
    TrainingRun run = TrainingRun::start(run::resolve(toy().config()), path);
    BOOST_TEST(go(run, 0) == cli::kStopped);
  }
  TrainingRun run = TrainingRun::resume(run::resolve(toy().config()), path);
  run.trainer().call_after_backward(
      [](int64_t, const std::vector<Parameter>&) { fail<BackendError>("cuda", "out of memory"); });
  BOOST_CHECK_THROW(go(run), BackendError);
  BOOST_TEST(fs::exists(path));
}

BOOST_AUTO_TEST_CASE(stopping_keeps_the_weights_before_the_bad_step) {
  const std::string path = toy().path("stop");
  TrainingRun run = TrainingRun::start(run::resolve(toy().config()), path);
  run.trainer().call_after_backward([](int64_t step, const std::vector<Parameter>& p) {
    if (step == 6) poison(p);
  });
  BOOST_CHECK_EXCEPTION(go(run), Error,
                        says("[train] step 6: expected finite numbers",
                             "; the weights of step 5 "
                             "are in ",
                             "--nonfinite skip or rewind"));
  const run::Checkpoint kept = run::load_newest_checkpoint(run.folder().checkpoints());
  BOOST_TEST(kept.state.step == 5);
  for (const auto& [name, tensor] : kept.model)
    for (const double value : tensor.to_vector()) BOOST_REQUIRE(std::isfinite(value));
}

BOOST_AUTO_TEST_CASE(skipping_leaves_one_batch_out_and_says_so) {
  run::RunConfig config = toy().config();
  config.nonfinite = "skip";
  const std::string path = toy().path("skip");
  std::string said;
  TrainingRun run = TrainingRun::start(run::resolve(config), path,
                                       [&](const std::string& warning) { said += warning; });
  run.trainer().call_after_backward([](int64_t step, const std::vector<Parameter>& p) {
    if (step == 6) poison(p);
  });
  BOOST_TEST(go(run) == cli::kDone);
  BOOST_TEST(said.find("step 6: expected finite numbers") != std::string::npos);
  const run::TrainState state = run.trainer().state();
  BOOST_TEST(state.skipped == std::vector<int64_t>{6}, boost::test_tools::per_element());
  BOOST_TEST(state.optimizer_t == 7);
  BOOST_TEST(run::load_newest_checkpoint(run.folder().checkpoints()).state.skipped.size() == 1u);
}

BOOST_AUTO_TEST_CASE(rewinding_goes_back_and_leaves_the_batch_out) {
  run::RunConfig config = toy().config();
  config.nonfinite = "rewind";
  config.checkpoint_every = 4;
  const std::string path = toy().path("rewind");
  std::string said;
  TrainingRun run = TrainingRun::start(run::resolve(config), path,
                                       [&](const std::string& warning) { said += warning; });
  std::vector<int64_t> steps;
  run.trainer().call_after_backward([&](int64_t step, const std::vector<Parameter>& p) {
    steps.push_back(step);
    if (step == 7) poison(p);
  });
  BOOST_TEST(go(run) == cli::kDone);
  BOOST_TEST(steps == (std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 5, 6, 8}),
             boost::test_tools::per_element());
  BOOST_TEST(said.find("; back to step 4, without that batch") != std::string::npos);
  BOOST_TEST(metrics(path).size() == 5u);
}

BOOST_AUTO_TEST_CASE(leaving_batches_out_without_end_stops) {
  for (const char* policy : {"skip", "rewind"}) {
    run::RunConfig config = toy().config();
    config.nonfinite = policy;
    config.steps = 30;
    TrainingRun run =
        TrainingRun::start(run::resolve(config), toy().path(std::string("hopeless-") + policy));
    run.trainer().call_after_backward([](int64_t, const std::vector<Parameter>& p) { poison(p); });
    BOOST_CHECK_EXCEPTION(
        go(run), Error,
        says("[train] step 11: expected finite numbers", "; 10 batches before it were left out"));
  }
}

BOOST_AUTO_TEST_CASE(a_loaded_model_is_the_one_that_was_trained) {
  const std::string path = toy().path("load");
  TrainingRun run = TrainingRun::start(run::resolve(toy().config("learned_abs")), path);
  go(run);
  const run::LoadedRun loaded = run::load_run(path);
  BOOST_TEST(loaded.state.step == 8);
  const Tensor ids = Tensor::from(std::vector<int32_t>{1, 2, 3, 4}, {1, 4});
  const Tensor targets = Tensor::from(std::vector<int32_t>{2, 3, 4, 5}, {1, 4});
  BOOST_TEST(loaded.model.nll(ids, targets).to_vector() ==
                 run.trainer().model().nll(ids, targets).to_vector(),
             boost::test_tools::per_element());
  BOOST_TEST(run::load_run(path, {.step = 6}).state.step == 6);
  BOOST_CHECK_EXCEPTION(run::load_run(path, {.step = 5}), IoError,
                        says("expected a checkpoint of step 5, got step-0000000"));
}

BOOST_AUTO_TEST_SUITE_END()
