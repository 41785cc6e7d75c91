#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <sstream>

#include "apps/cli/lists.h"
#include "apps/cli/progress.h"
#include "apps/sweep/cell_run.h"
#include "apps/sweep/given_request.h"
#include "apps/sweep/given_run.h"
#include "apps/sweep/results.h"
#include "apps/train/training_run.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/apps/sweep/sweep_fixture.h"
#include "tests/apps/toy_run.h"
#include "tests/support/messages.h"

using namespace farfield;
using namespace farfield::sweep;
namespace fs = std::filesystem;

namespace {

std::string trained(const run::RunConfig& config, const std::string& path) {
  train::TrainingRun run = train::TrainingRun::start(run::resolve(config), path);
  std::ostringstream said;
  cli::Progress progress(said, false);
  BOOST_TEST_REQUIRE((run.go(progress) == cli::kDone));
  return path;
}

// A trained run, and a sweep at smoke that is to change it.
struct Given {
  test::ToyRun toy;
  std::string run;
  PlanOptions options;

  explicit Given(const std::string& posenc = "rope")
      : run(trained(toy.config(posenc), path("run"))) {
    options.scale = Scale::smoke;
    options.given = std::make_shared<GivenRun>(open_given(run));
    use_own_text(*options.given, options.datasets);
  }
  std::string path(const std::string& name) const { return toy.path(name); }
};

// "no change", a window in a test, and a fine-tune.
Experiment changes() {
  Experiment e = two_models();
  e.datasets = {"text"};
  e.arms.resize(3);
  e.arms[0].label = "no change";
  e.arms[0].posenc = e.arms[1].posenc = "rope";
  e.arms[1].label = "window";
  e.arms[1].measured_posenc = "rope + window(w=256)";
  e.arms[2].label = "tuned";
  e.arms[2].posenc = "rope + interpolation(scale=4)";
  e.arms[2].starts_from = e.base_arm = "no change";
  e.arms[2].steps = 0.01;
  e.arms[2].batch = 0.25;
  e.arms[2].training = {{"lr", "0.0005"}, {"warmup", "0"}, {"lengths", "1:{4}"}};
  return e;
}

std::string of(const Cell& cell, const char* key) { return run::value_of(cell.training, key); }

}  // namespace

BOOST_AUTO_TEST_SUITE(test_given_run)

BOOST_AUTO_TEST_CASE(a_given_run_takes_the_place_of_the_trained_model) {
  const Given given;
  const Experiment e = changes();
  const Plan plan = plan_of(e, given.options);
  BOOST_TEST(plan.unit == 16);
  BOOST_TEST(plan.tokens(4) == 64);
  BOOST_TEST_REQUIRE(plan.cells.size() == 3U);
  const Cell &same = plan.cells[0], &tuned = plan.cells[2];
  BOOST_TEST(same.is_given);
  BOOST_TEST(same.training_work == 0);
  BOOST_TEST(of(same, "init-hash") == given.options.given->hash);
  BOOST_TEST(of(same, "init-step") == "8");
  BOOST_TEST(same.hash() == plan.cells[1].hash());
  BOOST_TEST(cells_of({plan}).size() == 2U);
  BOOST_TEST(plan.arms[1].measured_posenc == "rope + window(w=8)");  // half of L
  BOOST_TEST(run::value_of(same.measurements.front().options, "lengths") == "16,32");
  // A fine-tune has the model of the run, and the steps and the batch of the scale.
  BOOST_TEST(!tuned.is_given);
  BOOST_TEST((tuned.base == nullptr));
  BOOST_TEST(plan.arms[2].posenc.find("rope") != std::string::npos);
  for (const auto& [key, value] : {std::pair{"n-layer", "1"},
                                   {"n-head", "2"},
                                   {"d-model", "16"},
                                   {"train-len", "16"},
                                   {"lengths", "1:64"},
                                   {"batch", "8"},
                                   {"steps", "6"}})
    BOOST_TEST(of(tuned, key) == value, key);
  BOOST_TEST(std::stod(of(tuned, "lr")) == 0.0005);
  BOOST_TEST(tuned.label().find("6 steps from run") != std::string::npos, tuned.label());
  BOOST_TEST(same.label().find("run at step 8") != std::string::npos, same.label());
}

BOOST_AUTO_TEST_CASE(cells_are_named_by_the_weights_and_not_by_the_place) {
  const Given given;
  const Experiment e = changes();
  const Plan plan = plan_of(e, given.options);
  PlanOptions moved = given.options;
  GivenRun elsewhere = *given.options.given;
  elsewhere.path = elsewhere.name = "/another/place";
  moved.given = std::make_shared<GivenRun>(elsewhere);
  for (size_t i = 0; i < plan.cells.size(); ++i)
    BOOST_TEST(plan_of(e, moved).cells[i].hash() == plan.cells[i].hash());
  elsewhere.hash = "another";
  moved.given = std::make_shared<GivenRun>(elsewhere);
  for (size_t i = 0; i < plan.cells.size(); ++i)
    BOOST_TEST(plan_of(e, moved).cells[i].hash() != plan.cells[i].hash());
}

BOOST_AUTO_TEST_CASE(an_encoding_of_several_terms_stays) {
  const Given given("rope(base=500) + log_n");
  const std::string own = given.options.given->posenc();
  const Experiment e = changes();
  BOOST_TEST(misfit(*given.options.given, e) == "");
  const Plan plan = plan_of(e, given.options);
  BOOST_TEST(plan.arms[1].measured_posenc == own + " + window(w=8)");
  const std::string& tuned = plan.arms[2].posenc;
  for (const char* term : {"interpolation(scale=4", "log_n", "rope(base=500)"})
    BOOST_TEST(tuned.find(term) != std::string::npos, tuned);
}

BOOST_AUTO_TEST_CASE(another_rotation_takes_the_place_of_its_own) {
  const Given given("rope(base=500) + log_n");
  Experiment e = changes();
  e.arms[1].measured_posenc = "rope_yarn(scale=4)";
  BOOST_TEST(misfit(*given.options.given, e) == "");
  const std::string measured = plan_of(e, given.options).arms[1].measured_posenc;
  BOOST_TEST(measured.find("rope_yarn(scale=4)") != std::string::npos, measured);
  BOOST_TEST(measured.find("log_n") != std::string::npos, measured);
  BOOST_TEST(measured.find("rope(") == std::string::npos, measured);
  // What it does not name is the run's.
  const std::string canonical = run::canonical_posenc(measured, given.options.given->config());
  BOOST_TEST(canonical.find("base=500") != std::string::npos, canonical);
  // It acts in the layers that the run turns.
  GivenRun layered = *given.options.given;
  for (auto& [key, value] : layered.training)
    if (key == "posenc") value = "rope(base=500)@0..-2";
  BOOST_TEST(on_given(layered, e, e.arms[1], "rope_ntk(scale=2)") == "rope_ntk(scale=2)@0..-2");
  const Given linear("rope_linear(scale=2)");
  BOOST_TEST(misfit(*linear.options.given, e)
                     .find("window: [sweep] rope_yarn(scale=4) takes the "
                           "place of rope, which rope_linear(") == 0U,
             misfit(*linear.options.given, e));
}

BOOST_AUTO_TEST_CASE(long_training_lengths_are_measured_on_as_many_tokens) {
  const Given given;
  Experiment e = changes();
  e.measures = {{.key = "P16",
                 .protocol = "coherence",
                 .options = {{"coherence-sequences", "{256 sequences}"}},
                 .given_options = {{"prompts", "{4 sequences}"}, {"reread-stride", "{0.0625}"}}}};
  const auto planned = [&](int64_t train_len, const char* d_model) {
    GivenRun run = *given.options.given;
    run.training.emplace_back("architecture", "norm=rms,mlp=swiglu,bias=none,tied");
    for (auto& [key, value] : run.training) {
      if (key == "train-len") value = std::to_string(train_len);
      if (key == "d-model") value = d_model;
    }
    PlanOptions options = given.options;
    options.given = std::make_shared<GivenRun>(run);
    return plan_of(e, options);
  };
  const auto option = [](const Plan& plan, const char* name) {
    return run::value_of(plan.cells[0].measurements[0].options, name);
  };
  const Plan toy = planned(32, "16");  // the unit of smoke
  BOOST_TEST(option(toy, "coherence-sequences") == "256");
  BOOST_TEST(option(toy, "prompts") == "4");
  BOOST_TEST(option(toy, "reread-stride") == "2");
  BOOST_TEST(of(toy.cells[2], "batch") == "8");
  BOOST_TEST(std::stod(of(toy.cells[2], "lr")) == 0.0005);
  BOOST_TEST(of(toy.cells[2], "checkpoint-activations") == "false");
  BOOST_TEST(of(toy.cells[2], "architecture").find("norm=rms") == 0U,
             of(toy.cells[2], "architecture"));
  const Plan twice = planned(64, "128");
  BOOST_TEST(option(twice, "coherence-sequences") == "128");
  BOOST_TEST(option(twice, "prompts") == "2");
  BOOST_TEST(of(twice.cells[2], "batch") == "4");
  BOOST_TEST(std::stod(of(twice.cells[2], "lr")) == 0.00025);
  const Plan far_more = planned(8192, "16");
  BOOST_TEST(option(far_more, "coherence-sequences") == "1");
  BOOST_TEST(option(far_more, "prompts") == "1");
  BOOST_TEST(of(far_more.cells[2], "batch") == "1");
  BOOST_TEST(of(far_more.cells[2], "lengths") == "1:32768");
  BOOST_TEST(of(far_more.cells[2], "checkpoint-activations") == "true");
}

BOOST_AUTO_TEST_CASE(changes_that_do_not_go_with_its_encoding_are_left_out) {
  const Given given("rope_linear(scale=2)");
  std::ostringstream said;
  const std::vector<std::string> ids = ids_on_given(*given.options.given, {"context/*"}, said);
  BOOST_TEST(cli::has<std::string>(ids, "context/window-mask"));
  BOOST_TEST(!cli::has<std::string>(ids, "context/interpolation"));
  BOOST_TEST(said.str().find("context/interpolation: left out: positions / 4: [posenc] expected at "
                             "most one remap") != std::string::npos);
  BOOST_CHECK_EXCEPTION(ids_on_given(*given.options.given, {"context/modulo"}, said), ConfigError,
                        says("got 'context/modulo'; context/modulo modulo L: [posenc] expected at "
                             "most one remap"));
}

BOOST_AUTO_TEST_CASE(the_run_is_measured_where_it_lies) {
  const Given given;
  SweepFolder folder(given.path("sweep"), given.options);
  folder.save();
  const Experiment e = changes();
  const Plan plan = plan_of(e, given.options);
  std::ostringstream said;
  for (const Cell& cell : cells_of({plan})) {
    write_cell(folder.cells(), cell);
    const Cell read = read_cell(folder.cell(cell.hash()));
    BOOST_TEST(read.is_given == cell.is_given);
    BOOST_TEST((run_cell(folder, read, {.workers = 1}, said) == cli::kDone));
    BOOST_TEST(!fs::exists(folder.runs() / cell.hash()));
  }
  BOOST_TEST(fs::exists(fs::path(given.run) / "checkpoints"));
  const auto result = [&](size_t cell) {
    return read_result(result_path(folder.results(), plan.cells[cell].hash()));
  };
  BOOST_TEST(result(0).covers(plan.cells[1]));
  BOOST_TEST(result(0).facts.count("train_seconds") == 0U);
  BOOST_TEST(result(0).facts.at("parameters") ==
             static_cast<double>(given.options.given->n_parameter));
  BOOST_TEST(result(2).facts.at("parameters") == result(0).facts.at("parameters"));
  const auto nll = [&](size_t cell) {
    return result(cell)
        .measured.at(plan.cells[cell].measurements.front().id())
        .lengths.front()
        .mean_nll;
  };
  BOOST_TEST(nll(0) != nll(1));
  BOOST_TEST(nll(0) != nll(2));
  // Other weights in its place are not measured as these.
  fs::remove(result_path(folder.results(), plan.cells[0].hash()));
  fs::rename(given.run, given.path("gone"));
  run::RunConfig other = given.toy.config("rope");
  other.seed = 2;
  trained(other, given.run);
  BOOST_CHECK_EXCEPTION(run_cell(folder, plan.cells[0], {.workers = 1}, said), IoError,
                        says("expected weights of hash", "at step 8, got"));
}

BOOST_AUTO_TEST_CASE(a_folder_keeps_the_run) {
  const Given given;
  const std::string path = given.path("sweep");
  SweepFolder folder(path, given.options);
  folder.add({&experiment_named("context/modulo")}, {});
  folder.save();
  const std::string hash = folder.plans().front().cells.front().hash();
  fs::rename(given.run, given.path("moved"));
  // Plans and reports do not need the run.
  const SweepFolder again(path);
  BOOST_TEST_REQUIRE((again.options().given != nullptr));
  BOOST_TEST(again.options().given->is(*given.options.given));
  BOOST_TEST(again.plans().front().cells.front().hash() == hash);
  BOOST_TEST(describe(*again.options().given) == describe(*given.options.given));
  // It is found again where it is now.
  PlanOptions moved = given.options;
  moved.given = given_for(given.path("moved"), path);
  SweepFolder found(path, moved);
  BOOST_TEST(found.options().given->path == given.path("moved"));
  BOOST_TEST(found.plans().front().cells.front().hash() == hash);
  found.save();
  BOOST_TEST(SweepFolder(path).options().given->path == given.path("moved"));

  PlanOptions none = given.options;
  none.given = nullptr;
  BOOST_CHECK_EXCEPTION(SweepFolder(path, none), ConfigError,
                        says("holds a sweep of step 8 of ", "moved", "; --base ", "another --out"));
  GivenRun other = *given.options.given;
  other.hash = "another";
  PlanOptions changed = given.options;
  changed.given = std::make_shared<GivenRun>(other);
  BOOST_CHECK_EXCEPTION(SweepFolder(path, changed), ConfigError,
                        says("holds a sweep of step 8", "not of step 8", "choose another --out"));
  SweepFolder plain(given.path("plain"), none);
  plain.save();
  BOOST_CHECK_EXCEPTION(SweepFolder(given.path("plain"), given.options), ConfigError,
                        says("holds a sweep that trains its models", "for --base"));
}

BOOST_AUTO_TEST_CASE(experiments_that_train_their_own_models_are_left_out) {
  const Given given;
  std::ostringstream said;
  const std::vector<std::string> ids = ids_on_given(*given.options.given, {"context/*"}, said);
  BOOST_TEST(cli::has<std::string>(ids, "context/interpolation"));
  BOOST_TEST(!cli::has<std::string>(ids, "context/hwfa"));
  BOOST_TEST(said.str().find("context/hwfa: left out: trains its own models\n") !=
             std::string::npos);
  const auto asked = [&](const std::string& word) {
    return [&given, &said, word] { ids_on_given(*given.options.given, {word}, said); };
  };
  BOOST_CHECK_EXCEPTION(asked("sandwich/table1")(), ConfigError,
                        says(": expected some of context/baseline, ", "got 'sandwich/table1'",
                             "trains its own models"));
  BOOST_CHECK_EXCEPTION(asked("mine.conf")(), ConfigError, says("expected no grid", "mine.conf"));
  BOOST_CHECK_EXCEPTION(asked("context/bsaeline")(), ConfigError, says("context/baseline"));
}

BOOST_AUTO_TEST_CASE(runs_of_another_kind_are_refused) {
  const test::ToyRun toy;
  BOOST_CHECK_EXCEPTION(open_given(toy.path("none")), IoError,
                        says("none: expected the folder of a run"));
  const Given given("alibi");
  std::ostringstream said;
  BOOST_CHECK_EXCEPTION(ids_on_given(*given.options.given, {"context/*"}, said), ConfigError,
                        says("turned by position, as with rope, not alibi", "--posenc EXPR"));
  run::RunConfig task = toy.config("rope");
  task.data.clear();
  task.train_len.reset();
  task.task = "parity";
  trained(task, toy.path("task"));
  BOOST_CHECK_EXCEPTION(open_given(toy.path("task")), ConfigError,
                        says("expected a run that is trained on text, got one of the task parity"));
  const fs::path checkpoints = fs::path(given.run) / "checkpoints";
  const fs::path weights = run::find_checkpoint(checkpoints, {}) / "model.safetensors";
  std::string bytes = read_file(weights);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_file_atomic(weights, bytes);
  BOOST_CHECK_EXCEPTION(open_given(given.run), IoError, says("model.safetensors"));
  fs::remove_all(checkpoints);
  fs::create_directory(checkpoints);
  BOOST_CHECK_EXCEPTION(open_given(given.run), IoError, says("expected a checkpoint, got none"));
}

BOOST_AUTO_TEST_CASE(text_of_other_tokens_is_refused) {
  const Given given;
  data::PrepareOptions prepare;
  prepare.source.inputs = {given.toy.folder / "text.txt"};
  prepare.output = given.path("words");
  prepare.tokenizer = "words";
  data::prepare(prepare);
  BOOST_CHECK_EXCEPTION(require_its_tokens(*given.options.given, given.path("words")), ConfigError,
                        says("which the model was trained with"));
  require_its_tokens(*given.options.given, given.toy.data);
}

BOOST_AUTO_TEST_SUITE_END()
