// What a training run refuses: settings, data and folders that do not fit, and damaged files.
#include <boost/test/unit_test.hpp>

#include "apps/run/load_run.h"
#include "apps/train/training_run.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/apps/toy_run.h"
#include "tests/apps/train/training_calls.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_training_refusals)  // ctest: on_cuda

using namespace farfield;
using namespace farfield::train;
using farfield::test::bytes;
using farfield::test::go;
using farfield::test::metrics;
using farfield::test::toy;
using farfield::test::ToyRun;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_CASE(a_resumed_run_takes_harmless_changes_and_refuses_others) {
  const std::string path = toy().path("changes");
  {
    TrainingRun run = TrainingRun::start(run::resolve(toy().config("alibi")), path);
    go(run, 2);
  }
  BOOST_CHECK_EXCEPTION(TrainingRun::resume(run::resolve(toy().config("rope")), path), ConfigError,
                        says("[train] ", ": --posenc: expected alibi",
                             ", as the run was started, "
                             "got rope"));
  run::RunConfig harmless = toy().config("alibi");
  harmless.threads = 1;
  harmless.log_every = 1;
  harmless.keep = 1;
  TrainingRun run = TrainingRun::resume(run::resolve(harmless), path);
  BOOST_TEST(go(run) == cli::kDone);
  BOOST_TEST(run::list_checkpoints(run.folder().checkpoints()).size() == 1u);
}

BOOST_AUTO_TEST_CASE(another_schedule_mid_way_is_refused_with_the_call_of_a_new_run) {
  const std::string path = toy().path("schedule");
  {
    TrainingRun run = TrainingRun::start(run::resolve(toy().config()), path);
    go(run, 2);
  }
  const auto refused = [&](const auto& change, const std::string& option) {
    run::RunConfig config = toy().config();
    change(config);
    BOOST_CHECK_EXCEPTION(
        TrainingRun::resume(run::resolve(config), path), ConfigError,
        says("as the run was started",
             "leave it out, since --resume goes on with the same training",
             concat("train --config ", path, "/config.conf ", option, " --out FOLDER")));
  };
  refused([](run::RunConfig& c) { c.lr = 0.5; }, "--lr 0.5");
  refused([](run::RunConfig& c) { c.steps = 16; }, "--steps 16");
  refused([](run::RunConfig& c) { c.posenc = "alibi + rope"; }, "--posenc 'alibi + rope'");
  TrainingRun run = TrainingRun::resume(run::resolve(toy().config()), path);
  BOOST_TEST(go(run) == cli::kDone);
}

BOOST_AUTO_TEST_CASE(other_data_is_refused) {
  const std::string path = toy().path("data");
  {
    TrainingRun run = TrainingRun::start(run::resolve(toy().config()), path);
    go(run, 2);
  }
  const ToyRun other(2);
  run::RunConfig config = toy().config();
  config.data = {other.data};
  BOOST_CHECK_EXCEPTION(TrainingRun::resume(run::resolve(config), path), ConfigError,
                        says("expected the data the run was started on"));
}

BOOST_AUTO_TEST_CASE(a_damaged_checkpoint_stops_the_resumption) {
  const std::string path = toy().path("damaged");
  {
    TrainingRun run = TrainingRun::start(run::resolve(toy().config()), path);
    go(run, 4);
  }
  const fs::path file = fs::path(path) / "checkpoints/step-00000004/model.safetensors";
  std::string content = read_file(file);
  content.back() = static_cast<char>(content.back() ^ 1);
  write_file_atomic(file, content);
  BOOST_CHECK_EXCEPTION(TrainingRun::resume(run::resolve(toy().config()), path), IoError,
                        says("step-00000004/model.safetensors", "step-00000002"));
  fs::remove_all(file.parent_path());  // as the message says
  TrainingRun run = TrainingRun::resume(run::resolve(toy().config()), path);
  BOOST_TEST(run.trainer().state().step == 2);
}

BOOST_AUTO_TEST_CASE(a_full_disk_is_an_error_and_the_older_checkpoint_stays) {
  const std::string path = toy().path("full");
  TrainingRun run = TrainingRun::start(run::resolve(toy().config()), path);
  {
    const FileSizeLimit full(4000);
    BOOST_CHECK_EXCEPTION(
        go(run), IoError,
        says("File too large", "; step 0 is saved, continue with --resume " + path));
  }
  BOOST_TEST(run::load_newest_checkpoint(run.folder().checkpoints()).state.step == 0);
  {
    const FileSizeLimit full(4000);
    BOOST_CHECK_THROW(TrainingRun::start(run::resolve(toy().config()), toy().path("never")),
                      IoError);
  }
  BOOST_TEST(!fs::exists(toy().path("never")));
}

BOOST_AUTO_TEST_CASE(a_run_without_data_or_with_a_bad_folder_is_refused) {
  run::RunConfig config = toy().config();
  config.data = {};
  BOOST_CHECK_EXCEPTION(TrainingRun::start(run::resolve(config), toy().path("none")), ConfigError,
                        says("[train] expected --data PATH"));
  config.data = {toy().path("nowhere")};
  BOOST_CHECK_THROW(TrainingRun::start(run::resolve(config), toy().path("none")), IoError);
  BOOST_TEST(!fs::exists(toy().path("none")));
  BOOST_CHECK_THROW(TrainingRun::start(run::resolve(toy().config()), "/proc/farfield"), IoError);
}

BOOST_AUTO_TEST_CASE(damage_to_the_rows_of_a_checkpoint_stops_the_resumption) {
  const std::string path = toy().path("rows");
  {
    TrainingRun run = TrainingRun::start(run::resolve(toy().config()), path);
    go(run, 4);
  }
  const fs::path file = fs::path(path) / "metrics.csv", manifest = fs::path(path) / "manifest.json";
  const std::string whole = read_file(file), before = read_file(manifest);
  std::string damaged = whole;
  char& digit = damaged[damaged.rfind("\n2,") + 6];
  digit = digit == '1' ? '2' : '1';
  write_file_atomic(file, damaged);
  BOOST_CHECK_EXCEPTION(TrainingRun::resume(run::resolve(toy().config()), path), IoError,
                        says("[metrics] " + file.string()));
  BOOST_TEST(read_file(manifest) == before);  // nothing was resumed
  fs::remove(file);                           // as the message says
  std::string said;
  TrainingRun run = TrainingRun::resume(run::resolve(toy().config()), path,
                                        [&](const std::string& warning) { said += warning; });
  BOOST_TEST(go(run) == cli::kDone);
  BOOST_TEST(said.find("metrics.csv was gone; its rows begin anew") != std::string::npos);
  BOOST_TEST(metrics(path).size() == 3u);  // header, steps 6 and 8
}

BOOST_AUTO_TEST_CASE(damage_to_the_configuration_names_the_file) {
  const std::string path = toy().path("conf");
  {
    TrainingRun run = TrainingRun::start(run::resolve(toy().config()), path);
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
    BOOST_CHECK_EXCEPTION(run::load_run(path), IoError, says(file.string(), message));
  };
  damage("n-head = 2", "n-hea\x01 = 2");
  refused("unknown option");
  damage("n-head = 2", "n-head = \xff");
  refused("expected a whole number");
  damage("n-head = 2", "n-head");
  refused("expected key = value");
  damage("n-head = 2", "n-head = 3");
  refused("multiple of n_head");
  damage("posenc = kerple_log", "posenc = kerple_lob");
  refused("kerple_lob");
  damage("train-len = 16\n", "");  // good in itself, as is the next
  refused("expected train-len = 16, as in the checkpoint of step 2, got none");
  run::RunConfig filled = toy().config();
  filled.train_len = 128;
  BOOST_CHECK_EXCEPTION(TrainingRun::resume(run::resolve(filled), path), IoError,
                        says(file.string(), "expected train-len = 16", "got none"));
  damage("seed = 1", "seed = 7");
  refused("expected seed = 1, as in the checkpoint of step 2, got 7");
  run::RunConfig other = toy().config();
  other.seed = 7;
  BOOST_CHECK_EXCEPTION(TrainingRun::resume(run::resolve(other), path), IoError,
                        says(file.string(), "expected seed = 1, as in the checkpoint"));
}

BOOST_AUTO_TEST_CASE(learned_values_out_of_their_bounds_are_refused_before_a_step_is_made) {
  const std::string path = toy().path("bounds");
  run::TrainState state;
  run::NamedTensors model, optimizer;
  {
    TrainingRun run = TrainingRun::start(run::resolve(toy().config("kerple_log")), path);
    go(run, 2);
    state = run::load_newest_checkpoint(run.folder().checkpoints()).state;
    model = run.trainer().model_tensors();
    optimizer = run.trainer().optimizer_tensors();
  }
  BOOST_CHECK_NO_THROW(TrainingRun::resume(run::resolve(toy().config("kerple_log")), path));
  bool is_forged = false;
  for (auto& [name, tensor] : model)
    if (name.find("r1") != std::string::npos) {
      std::vector<double> values = tensor.to_vector();
      values[1] = -3;
      tensor.assign(Tensor::from(values, tensor.shape(), tensor.dtype()));
      is_forged = true;
    }
  BOOST_TEST_REQUIRE(is_forged);
  run::save_checkpoint(fs::path(path) / "checkpoints", state, model, optimizer, {.last = 9});
  BOOST_CHECK_EXCEPTION(TrainingRun::resume(run::resolve(toy().config("kerple_log")), path),
                        IoError,
                        says("[checkpoint] bad_parameter: ", "step-00000002/model.safetensors",
                             " of head 2 ", ", got -3"));
}

BOOST_AUTO_TEST_CASE(a_manifest_of_many_brackets_is_neither_followed_nor_written_out) {
  const std::string path = toy().path("brackets");
  {
    TrainingRun run = TrainingRun::start(run::resolve(toy().config()), path);
    go(run, 2);
  }
  const fs::path file = fs::path(path) / "manifest.json";
  const std::string deep = R"({"resumed":[],"x":)" + std::string(20'000, '[') +
                           std::string(20'000, ']') + "}";  // 800 MB when indented
  write_file_atomic(file, deep);
  BOOST_CHECK_EXCEPTION(TrainingRun::resume(run::resolve(toy().config()), path), IoError,
                        says(file.string(), ": expected JSON with at most 32 brackets"));
  BOOST_TEST(fs::file_size(file) == deep.size());
}

BOOST_AUTO_TEST_SUITE_END()
