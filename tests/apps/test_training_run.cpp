#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/csv.h"
#include "apps/load_run.h"
#include "apps/signals.h"
#include "apps/training_run.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/apps/toy_run.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/messages.h"
#include "tests/support/on_cuda.h"

using namespace farfield;
using namespace farfield::apps;
using farfield::test::toy;
using farfield::test::ToyRun;
namespace fs = std::filesystem;

namespace {

ExitCode go(TrainingRun& run, std::optional<int64_t> stop_after = {}, std::string* said = nullptr) {
  std::ostringstream out;
  ExitCode code;
  {
    Progress progress(out, false);
    code = run.go(progress, stop_after);
  }
  if (said != nullptr) *said = out.str();
  return code;
}

std::string bytes(const std::string& run, int64_t step, const char* file) {
  char name[32];
  std::snprintf(name, sizeof name, "step-%08d", static_cast<int>(step));
  return read_file(fs::path(run) / "checkpoints" / name / file);
}

// metrics.csv without what depends on the clock.
std::vector<std::vector<std::string>> metrics(const std::string& run) {
  auto rows = parse_csv(run, read_file(fs::path(run) / "metrics.csv"));
  for (auto& row : rows) row.resize(6);
  return rows;
}

void poison(const std::vector<Parameter>& parameters) {
  Tensor grad = parameters[0].value.grad();
  grad.data<float>()[0] = std::numeric_limits<float>::infinity();
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_stopped_and_resumed_run_equals_one_in_one_go) {
  const RunConfig config = toy().config();
  const std::string one = toy().path("one"), two = toy().path("two");
  {
    TrainingRun run = TrainingRun::start(config, one);
    BOOST_TEST(go(run) == kDone);
  }
  {
    TrainingRun run = TrainingRun::start(config, two);
    std::string said;
    BOOST_TEST(go(run, 3, &said) == kStopped);
    BOOST_TEST(said.find("stopped after step 3 of 8; continue with --resume " + two) !=
               std::string::npos);
  }
  {
    TrainingRun run = TrainingRun::resume(config, two);
    BOOST_TEST(go(run) == kDone);
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
    TrainingRun run = TrainingRun::start(toy().config(), path);
    BOOST_TEST_REQUIRE(go(run) == kDone);
  }
  const std::string before = bytes(path, 8, "state.json"),
                    manifest = read_file(path + "/manifest.json");
  TrainingRun again = TrainingRun::resume(toy().config(), path);
  std::string said;
  BOOST_TEST(go(again, {}, &said) == kDone);
  BOOST_TEST(said.find("this run is finished: step 8 of 8") != std::string::npos, said);
  BOOST_TEST(said.find("train --config " + path + "/config.conf --steps N") != std::string::npos,
             said);
  BOOST_TEST(bytes(path, 8, "state.json") == before);
  BOOST_TEST(read_file(path + "/manifest.json") == manifest);
}

BOOST_AUTO_TEST_CASE(the_saved_configuration_repeats_the_run) {
  const std::string first = toy().path("first"), again = toy().path("again");
  {
    TrainingRun run = TrainingRun::start(toy().config("rope"), first);
    go(run);
  }
  RunConfig config = to_run_config("config.conf", RunFolder::open(first).config());
  resolve(config);
  TrainingRun run = TrainingRun::start(config, again);
  go(run);
  BOOST_CHECK(bytes(first, 8, "model.safetensors") == bytes(again, 8, "model.safetensors"));
  BOOST_CHECK(read_file(fs::path(first) / "config.conf") ==
              read_file(fs::path(again) / "config.conf"));
}

BOOST_AUTO_TEST_CASE(a_run_killed_after_its_checkpoint_repeats_no_row) {
  const RunConfig config = toy().config();
  const std::string path = toy().path("killed");
  {
    TrainingRun run = TrainingRun::start(config, path);
    go(run);
  }
  // As if killed between the rows of steps 6 and 8 and the checkpoints of those steps.
  fs::remove_all(fs::path(path) / "checkpoints/step-00000008");
  fs::remove_all(fs::path(path) / "checkpoints/step-00000006");
  TrainingRun run = TrainingRun::resume(config, path);
  BOOST_TEST(metrics(path).size() == 3u);
  go(run);
  BOOST_TEST(metrics(path).size() == 5u);
}

BOOST_AUTO_TEST_CASE(a_signal_ends_the_run_resumably_after_the_step) {
  for (const int which : {SIGINT, SIGTERM, SIGUSR1}) {
    const std::string path = toy().path("signal" + std::to_string(which));
    const StopSignals signals;
    TrainingRun run = TrainingRun::start(toy().config(), path);
    run.trainer().after_backward = [&](int64_t step, const std::vector<Parameter>&) {
      if (step == 3) ::raise(which);
    };
    std::string said;
    BOOST_TEST(go(run, {}, &said) == kStopped);
    BOOST_TEST(said.find("stopped on request after step 3 of 8") != std::string::npos);
    BOOST_TEST(load_newest_checkpoint(run.folder().checkpoints()).state.step == 3);
  }
}

namespace {
// Asks for a stop in the middle of a step; its grace time is over at once.
std::atomic<int64_t> questions{0}, raise_at{0};
bool raise_and_ask() {
  if (++questions == raise_at) ::kill(::getpid(), SIGTERM);  // asked by threads without signals too
  return stop_is_due();
}
}  // namespace

BOOST_AUTO_TEST_CASE(a_step_beyond_its_grace_time_is_given_up_and_repeated) {
  const std::string whole = toy().path("uninterrupted"), path = toy().path("given-up");
  {
    TrainingRun run = TrainingRun::start(toy().config(), whole);
    go(run);
  }
  bool is_new = true;
  // A device is asked between two ops alone, and no more once it repeats a recorded step.
  const std::vector<int64_t> moments = test::is_on_cuda()
                                           ? std::vector<int64_t>{1, 5, 9, 13, 17}
                                           : std::vector<int64_t>{1, 40, 100, 250, 350};
  for (const int64_t at : moments) {
    const StopSignals signals("", std::chrono::seconds(0));
    TrainingRun run = is_new ? TrainingRun::start(toy().config(), path)
                             : TrainingRun::resume(toy().config(), path);
    is_new = false;
    run.trainer().is_due = raise_and_ask;
    questions = 0;
    raise_at = at;
    std::string said;
    BOOST_TEST(go(run, {}, &said) == kStopped);
    BOOST_TEST(said.find("was given up") != std::string::npos, said);
    BOOST_TEST(said.find("stopped on request after step ") != std::string::npos, said);
    BOOST_TEST(load_newest_checkpoint(run.folder().checkpoints()).state.step ==
               run.trainer().state().step);
  }
  TrainingRun run = TrainingRun::resume(toy().config(), path);
  BOOST_TEST(go(run) == kDone);
  for (const char* file : {"model.safetensors", "optimizer.safetensors"})
    BOOST_CHECK(bytes(whole, 8, file) == bytes(path, 8, file));
}

BOOST_AUTO_TEST_CASE(a_signal_while_a_run_starts_leaves_a_run_to_resume_or_nothing) {
  {
    const StopSignals signals;
    ::raise(SIGTERM);
    TrainingRun run = TrainingRun::start(toy().config(), toy().path("early"));
    std::string said;
    BOOST_TEST(go(run, {}, &said) == kStopped);
    BOOST_TEST(said.find("stopped on request after step 0 of 8") != std::string::npos, said);
  }
  BOOST_CHECK_NO_THROW(TrainingRun::resume(toy().config(), toy().path("early")));
  const StopSignals signals("", std::chrono::seconds(0));
  ::raise(SIGTERM);
  BOOST_CHECK_THROW(TrainingRun::start(toy().config(), toy().path("too-early")), Interrupted);
  BOOST_TEST(!fs::exists(toy().path("too-early")));
}

BOOST_AUTO_TEST_CASE(a_start_that_fails_in_its_first_step_is_in_nobodys_way) {
  const std::string path = toy().path("again-and-again");
  for (int i = 0; i < 2; ++i) {
    TrainingRun run = TrainingRun::start(toy().config(), path);
    run.trainer().after_backward = [](int64_t, const std::vector<Parameter>&) {
      fail<BackendError>("cuda", "out of memory");
    };
    BOOST_CHECK_THROW(go(run), BackendError);
    BOOST_TEST(!fs::exists(path));
  }
  {
    TrainingRun run = TrainingRun::start(toy().config(), path);
    run.trainer().after_backward = [](int64_t, const std::vector<Parameter>& p) { poison(p); };
    BOOST_CHECK_EXCEPTION(go(run), Error,
                          says("[train] step 1: expected finite numbers",
                               "; nothing is kept of this run; --nonfinite skip or rewind"));
    BOOST_TEST(!fs::exists(path));
  }
  // What was stopped, or killed, has a state to go on from: so it stays.
  {
    TrainingRun run = TrainingRun::start(toy().config(), path);
    BOOST_TEST(go(run, 0) == kStopped);
  }
  TrainingRun run = TrainingRun::resume(toy().config(), path);
  run.trainer().after_backward = [](int64_t, const std::vector<Parameter>&) {
    fail<BackendError>("cuda", "out of memory");
  };
  BOOST_CHECK_THROW(go(run), BackendError);
  BOOST_TEST(fs::exists(path));
}

BOOST_AUTO_TEST_CASE(stopping_keeps_the_weights_before_the_bad_step) {
  const std::string path = toy().path("stop");
  TrainingRun run = TrainingRun::start(toy().config(), path);
  run.trainer().after_backward = [](int64_t step, const std::vector<Parameter>& p) {
    if (step == 6) poison(p);
  };
  BOOST_CHECK_EXCEPTION(go(run), Error,
                        says("[train] step 6: expected finite numbers",
                             "; the weights of step 5 "
                             "are in ",
                             "--nonfinite skip or rewind"));
  const Checkpoint kept = load_newest_checkpoint(run.folder().checkpoints());
  BOOST_TEST(kept.state.step == 5);
  for (const auto& [name, tensor] : kept.model)
    for (const double value : tensor.to_vector()) BOOST_REQUIRE(std::isfinite(value));
}

BOOST_AUTO_TEST_CASE(skipping_leaves_one_batch_out_and_says_so) {
  RunConfig config = toy().config();
  config.nonfinite = "skip";
  const std::string path = toy().path("skip");
  TrainingRun run = TrainingRun::start(config, path);
  run.trainer().after_backward = [](int64_t step, const std::vector<Parameter>& p) {
    if (step == 6) poison(p);
  };
  std::string said;
  BOOST_TEST(go(run, {}, &said) == kDone);
  BOOST_TEST(said.find("step 6: expected finite numbers") != std::string::npos);
  const TrainState state = run.trainer().state();
  BOOST_TEST(state.skipped == std::vector<int64_t>{6}, boost::test_tools::per_element());
  BOOST_TEST(state.optimizer_t == 7);
  BOOST_TEST(load_newest_checkpoint(run.folder().checkpoints()).state.skipped.size() == 1u);
}

BOOST_AUTO_TEST_CASE(rewinding_goes_back_and_leaves_the_batch_out) {
  RunConfig config = toy().config();
  config.nonfinite = "rewind";
  config.checkpoint_every = 4;
  const std::string path = toy().path("rewind");
  TrainingRun run = TrainingRun::start(config, path);
  std::vector<int64_t> steps;
  run.trainer().after_backward = [&](int64_t step, const std::vector<Parameter>& p) {
    steps.push_back(step);
    if (step == 7) poison(p);
  };
  std::string said;
  BOOST_TEST(go(run, {}, &said) == kDone);
  BOOST_TEST(steps == (std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 5, 6, 8}),
             boost::test_tools::per_element());
  BOOST_TEST(said.find("; back to step 4, without that batch") != std::string::npos);
  BOOST_TEST(metrics(path).size() == 5u);
}

BOOST_AUTO_TEST_CASE(leaving_batches_out_without_end_stops) {
  for (const char* policy : {"skip", "rewind"}) {
    RunConfig config = toy().config();
    config.nonfinite = policy;
    config.steps = 30;
    TrainingRun run = TrainingRun::start(config, toy().path(std::string("hopeless-") + policy));
    run.trainer().after_backward = [](int64_t, const std::vector<Parameter>& p) { poison(p); };
    BOOST_CHECK_EXCEPTION(
        go(run), Error,
        says("[train] step 11: expected finite numbers", "; 10 batches before it were left out"));
  }
}

BOOST_AUTO_TEST_CASE(a_resumed_run_takes_harmless_changes_and_refuses_others) {
  const std::string path = toy().path("changes");
  {
    TrainingRun run = TrainingRun::start(toy().config("alibi"), path);
    go(run, 2);
  }
  BOOST_CHECK_EXCEPTION(TrainingRun::resume(toy().config("rope"), path), ConfigError,
                        says("[train] ", ": --posenc: expected alibi",
                             ", as the run was started, "
                             "got rope"));
  RunConfig harmless = toy().config("alibi");
  harmless.threads = 1;
  harmless.log_every = 1;
  harmless.keep = 1;
  TrainingRun run = TrainingRun::resume(harmless, path);
  BOOST_TEST(go(run) == kDone);
  BOOST_TEST(list_checkpoints(run.folder().checkpoints()).size() == 1u);
}

BOOST_AUTO_TEST_CASE(other_data_is_refused) {
  const std::string path = toy().path("data");
  {
    TrainingRun run = TrainingRun::start(toy().config(), path);
    go(run, 2);
  }
  const ToyRun other(2);
  RunConfig config = toy().config();
  config.data = other.data;
  BOOST_CHECK_EXCEPTION(TrainingRun::resume(config, path), ConfigError,
                        says("expected the data the run was started on"));
}

BOOST_AUTO_TEST_CASE(a_damaged_checkpoint_stops_the_resumption) {
  const std::string path = toy().path("damaged");
  {
    TrainingRun run = TrainingRun::start(toy().config(), path);
    go(run, 4);
  }
  const fs::path file = fs::path(path) / "checkpoints/step-00000004/model.safetensors";
  std::string content = read_file(file);
  content.back() = static_cast<char>(content.back() ^ 1);
  write_file_atomic(file, content);
  BOOST_CHECK_EXCEPTION(TrainingRun::resume(toy().config(), path), IoError,
                        says("step-00000004/model.safetensors", "step-00000002"));
  fs::remove_all(file.parent_path());  // as the message says
  TrainingRun run = TrainingRun::resume(toy().config(), path);
  BOOST_TEST(run.trainer().state().step == 2);
}

BOOST_AUTO_TEST_CASE(a_full_disk_is_an_error_and_the_older_checkpoint_stays) {
  const std::string path = toy().path("full");
  TrainingRun run = TrainingRun::start(toy().config(), path);
  {
    const FileSizeLimit full(4000);
    BOOST_CHECK_EXCEPTION(go(run), IoError, says("File too large"));
  }
  BOOST_TEST(load_newest_checkpoint(run.folder().checkpoints()).state.step == 0);
  {
    const FileSizeLimit full(4000);
    BOOST_CHECK_THROW(TrainingRun::start(toy().config(), toy().path("never")), IoError);
  }
  BOOST_TEST(!fs::exists(toy().path("never")));
}

BOOST_AUTO_TEST_CASE(a_run_without_data_or_with_a_bad_folder_is_refused) {
  RunConfig config = toy().config();
  config.data = "";
  BOOST_CHECK_EXCEPTION(TrainingRun::start(config, toy().path("none")), ConfigError,
                        says("[train] expected --data FOLDER"));
  config.data = toy().path("nowhere");
  BOOST_CHECK_THROW(TrainingRun::start(config, toy().path("none")), IoError);
  BOOST_TEST(!fs::exists(toy().path("none")));
  BOOST_CHECK_THROW(TrainingRun::start(toy().config(), "/proc/farfield"), IoError);
}

BOOST_AUTO_TEST_CASE(a_loaded_model_is_the_one_that_was_trained) {
  const std::string path = toy().path("load");
  TrainingRun run = TrainingRun::start(toy().config("learned_abs"), path);
  go(run);
  const LoadedRun loaded = load_run(path);
  BOOST_TEST(loaded.state.step == 8);
  const Tensor ids = Tensor::from(std::vector<int32_t>{1, 2, 3, 4}, {1, 4});
  const Tensor targets = Tensor::from(std::vector<int32_t>{2, 3, 4, 5}, {1, 4});
  BOOST_TEST(loaded.model.nll(ids, targets).to_vector() ==
                 run.trainer().model().nll(ids, targets).to_vector(),
             boost::test_tools::per_element());
  BOOST_TEST(load_run(path, {.step = 6}).state.step == 6);
  BOOST_CHECK_EXCEPTION(load_run(path, {.step = 5}), IoError,
                        says("expected a checkpoint of step 5, got step-0000000"));
}

BOOST_AUTO_TEST_CASE(damage_to_the_rows_of_a_checkpoint_stops_the_resumption) {
  const std::string path = toy().path("rows");
  {
    TrainingRun run = TrainingRun::start(toy().config(), path);
    go(run, 4);
  }
  const fs::path file = fs::path(path) / "metrics.csv", manifest = fs::path(path) / "manifest.json";
  const std::string whole = read_file(file), before = read_file(manifest);
  std::string damaged = whole;
  char& digit = damaged[damaged.rfind("\n2,") + 6];
  digit = digit == '1' ? '2' : '1';
  write_file_atomic(file, damaged);
  BOOST_CHECK_EXCEPTION(TrainingRun::resume(toy().config(), path), IoError,
                        says("[metrics] " + file.string()));
  BOOST_TEST(read_file(manifest) == before);  // nothing was resumed
  fs::remove(file);                           // as the message says
  TrainingRun run = TrainingRun::resume(toy().config(), path);
  std::string said;
  BOOST_TEST(go(run, {}, &said) == kDone);
  BOOST_TEST(said.find("metrics.csv was gone; its rows begin anew") != std::string::npos);
  BOOST_TEST(metrics(path).size() == 3u);  // header, steps 6 and 8
}

BOOST_AUTO_TEST_CASE(damage_to_the_configuration_names_the_file) {
  const std::string path = toy().path("conf");
  {
    TrainingRun run = TrainingRun::start(toy().config(), path);
    go(run, 2);
  }
  const fs::path file = fs::path(path) / "config.conf";
  const std::string whole = read_file(file);
  const auto damage = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    const size_t at = text.find(from);
    BOOST_TEST_REQUIRE(at != std::string::npos);
    write_file_atomic(file, text.replace(at, from.size(), to));
  };
  const auto refused = [&](const char* message) {
    BOOST_CHECK_EXCEPTION(load_run(path), IoError, says(file.string(), message));
  };
  damage("n-head = 2", "n-hea\x01 = 2");
  refused("unknown key");
  damage("n-head = 2", "n-head = \xff");
  refused("expected a whole number");
  damage("n-head = 2", "n-head");
  refused("expected 'key = value'");
  damage("n-head = 2", "n-head = 3");
  refused("multiple of n_head");
  damage("posenc = kerple_log", "posenc = kerple_lob");
  refused("kerple_lob");
  damage("train-len = 16\n", "");  // good in itself, as is the next
  refused("expected train-len = 16, as in the checkpoint of step 2, got none");
  RunConfig filled = toy().config();
  filled.train_len = 128;
  BOOST_CHECK_EXCEPTION(TrainingRun::resume(filled, path), IoError,
                        says(file.string(), "expected train-len = 16", "got none"));
  damage("seed = 1", "seed = 7");
  refused("expected seed = 1, as in the checkpoint of step 2, got 7");
  RunConfig other = toy().config();
  other.seed = 7;
  BOOST_CHECK_EXCEPTION(TrainingRun::resume(other, path), IoError,
                        says(file.string(), "expected seed = 1, as in the checkpoint"));
}

BOOST_AUTO_TEST_CASE(learned_values_out_of_their_bounds_are_refused_before_a_step_is_made) {
  const std::string path = toy().path("bounds");
  TrainState state;
  NamedTensors model, optimizer;
  {
    TrainingRun run = TrainingRun::start(toy().config("kerple_log"), path);
    go(run, 2);
    state = load_newest_checkpoint(run.folder().checkpoints()).state;
    model = run.trainer().model_tensors();
    optimizer = run.trainer().optimizer_tensors();
  }
  BOOST_CHECK_NO_THROW(TrainingRun::resume(toy().config("kerple_log"), path));
  bool is_forged = false;
  for (auto& [name, tensor] : model)
    if (name.find("r1") != std::string::npos) {
      std::vector<double> values = tensor.to_vector();
      values[1] = -3;
      tensor.assign(Tensor::from(values, tensor.shape(), tensor.dtype()));
      is_forged = true;
    }
  BOOST_TEST_REQUIRE(is_forged);
  save_checkpoint(fs::path(path) / "checkpoints", state, model, optimizer, 9);
  BOOST_CHECK_EXCEPTION(TrainingRun::resume(toy().config("kerple_log"), path), IoError,
                        says("[checkpoint] bad_parameter: ", "step-00000002/model.safetensors",
                             " of head 2 ", ", got -3"));
}

BOOST_AUTO_TEST_CASE(a_manifest_of_many_brackets_is_neither_followed_nor_written_out) {
  const std::string path = toy().path("brackets");
  {
    TrainingRun run = TrainingRun::start(toy().config(), path);
    go(run, 2);
  }
  const fs::path file = fs::path(path) / "manifest.json";
  const std::string deep = R"({"resumed":[],"x":)" + std::string(20'000, '[') +
                           std::string(20'000, ']') + "}";  // 800 MB when indented
  write_file_atomic(file, deep);
  BOOST_CHECK_EXCEPTION(TrainingRun::resume(toy().config(), path), IoError,
                        says(file.string(), ": expected JSON with at most 32 brackets"));
  BOOST_TEST(fs::file_size(file) == deep.size());
}
