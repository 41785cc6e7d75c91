#include <boost/test/unit_test.hpp>

#include "apps/run/load_run.h"
#include "apps/run/source_run.h"
#include "engine/base/error.h"
#include "tests/apps/toy_run.h"
#include "tests/apps/train/training_calls.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_init_from)  // ctest: threads on_cuda

using namespace farfield;
using namespace farfield::train;
using farfield::test::base;
using farfield::test::bytes;
using farfield::test::go;
using farfield::test::made;
using farfield::test::metrics;
using farfield::test::toy;

namespace {

// A run from its weights, as `train --init-from` resolves it.
run::RunConfig continued(const std::string& posenc = "kerple_log", const std::string& from = "") {
  run::RunConfig config = toy().config(posenc);
  config.init_from = from.empty() ? base() : from;
  return config;
}

run::ResolvedConfig completed(run::RunConfig config) {
  run::complete(config, run::open_source(*config.init_from, config.init_step, config.init_hash));
  return run::resolve(config);
}

std::string tensor_bytes(const std::string& run, int64_t step, const std::string& name) {
  const run::Checkpoint checkpoint =
      run::load_checkpoint(run::find_checkpoint(run::RunFolder::open(run).checkpoints(), step));
  const Tensor& x = checkpoint.model.at(name);
  return {static_cast<const char*>(x.raw_data()), static_cast<size_t>(x.size_bytes())};
}

constexpr const char* kModel = "model.safetensors";

}  // namespace

BOOST_AUTO_TEST_CASE(a_run_starts_from_the_newest_weights_of_another) {
  const std::string path = made("newest", completed(continued()), 0);
  BOOST_CHECK(bytes(path, 0, kModel) == bytes(base(), 8, kModel));
  const run::LoadedRun loaded = run::load_run(path);
  const auto lineage = run::lineage_of(loaded.folder);
  BOOST_TEST_REQUIRE(lineage.size() == 1u);
  BOOST_TEST(lineage[0].run == base());
  BOOST_TEST(lineage[0].place.from_run == "../base");
  BOOST_TEST(lineage[0].step == 8);
  BOOST_TEST(lineage[0].hash == run::load_run(base()).model_hash);
  BOOST_TEST(run::lineage_text(lineage, false) == "step 8 of " + base());
}

BOOST_AUTO_TEST_CASE(ancestors_are_listed_to_the_first) {
  const std::string parent = made("parent", completed(continued()), 2),
                    child = made("child", completed(continued("kerple_log", parent)), 0);
  const auto lineage = run::lineage_of(run::RunFolder::open(child));
  BOOST_TEST_REQUIRE(lineage.size() == 2u);
  BOOST_TEST(run::lineage_text(lineage, false) ==
             "step 2 of " + parent + ", from step 8 of " + base());
}

BOOST_AUTO_TEST_CASE(an_earlier_step_can_be_taken) {
  run::RunConfig config = continued();
  config.init_step = 6;
  BOOST_CHECK(bytes(made("earlier", completed(config), 0), 0, kModel) == bytes(base(), 6, kModel));
  config.init_step = 5;
  BOOST_CHECK_EXCEPTION(completed(config), IoError,
                        says("expected a checkpoint of step 5, got step-00000004"));
}

BOOST_AUTO_TEST_CASE(training_goes_on_where_the_weights_are) {
  const auto loss = [](const std::string& run) { return std::stod(metrics(run)[1][2]); };
  BOOST_TEST(loss(made("goes-on", completed(continued()))) < loss(base()));
}

BOOST_AUTO_TEST_CASE(the_text_is_read_in_another_order) {
  const run::ResolvedConfig config = completed(continued());
  BOOST_TEST(config.data_seed() != config.seed);
  BOOST_TEST(config.data_seed() <= UINT32_MAX);
  BOOST_TEST(config.data_seed() == completed(continued()).data_seed());
  run::RunConfig other = continued();
  other.init_step = 6;
  BOOST_TEST(config.data_seed() != completed(other).data_seed());
}

BOOST_AUTO_TEST_CASE(weights_of_another_hash_are_refused) {
  run::RunConfig config = continued();
  config.init_hash = std::string(32, '0');
  BOOST_CHECK_EXCEPTION(completed(config), ConfigError, says("expected weights of hash 0000"));
  run::ResolvedConfig resolved = completed(continued());
  resolved.init->hash = std::string(32, '0');
  BOOST_CHECK_EXCEPTION(TrainingRun::start(resolved, toy().path("other-hash")), ConfigError,
                        says("expected weights of hash 0000"));
  BOOST_TEST(!std::filesystem::exists(toy().path("other-hash")));
}

BOOST_AUTO_TEST_CASE(another_shape_is_refused_by_its_option) {
  run::RunConfig config = continued();
  config.d_model = 32;
  BOOST_CHECK_EXCEPTION(TrainingRun::start(completed(config), toy().path("wide")), ConfigError,
                        says("--d-model: expected 16, as " + base()));
}

BOOST_AUTO_TEST_CASE(options_of_initial_weights_need_a_source) {
  run::RunConfig config = toy().config();
  config.drop_learned = true;
  BOOST_CHECK_EXCEPTION(run::resolve(config), ConfigError,
                        says("--drop-learned: expected --init-from RUN"));
}

BOOST_AUTO_TEST_CASE(another_encoding_follows_the_rules_of_eval) {
  BOOST_CHECK_EXCEPTION(made("alibi", completed(continued("alibi"))), ConfigError,
                        says("expected a place in 'alibi"));
  run::RunConfig config = continued("kernel(bias=-a*log(1+b*d), a>0~U(0,2), b>0~U(0,1))");
  config.map = {"a=kerple_log.r1", "b=kerple_log.r2"};
  BOOST_CHECK_THROW(made("wrong-way", completed(config)), ConfigError);
  config.map = {"r1=kernel.a", "r2=kernel.b"};
  const std::string mapped = made("mapped", completed(config), 0);
  const std::string name = "posenc.kernel.a";
  BOOST_TEST(tensor_bytes(mapped, 0, "gpt_neox.layers.0.mlp.dense_h_to_4h.weight") ==
             tensor_bytes(base(), 8, "gpt_neox.layers.0.mlp.dense_h_to_4h.weight"));
  config = continued("alibi");
  config.drop_learned = true;
  const std::string dropped = toy().path("dropped");
  TrainingRun run = TrainingRun::start(completed(config), dropped);
  std::string said;
  go(run, 0, &said);
  BOOST_TEST(said.find("trained values left out: kerple_log.") != std::string::npos, said);
}

BOOST_AUTO_TEST_CASE(maps_without_another_encoding_are_refused) {
  run::RunConfig config = continued();
  config.map = {"a=b"};
  BOOST_CHECK_EXCEPTION(made("same-map", completed(config)), ConfigError,
                        says("--map: expected another --posenc than kerple_log"));
}

BOOST_AUTO_TEST_CASE(lengths_of_the_encoding_refer_to_the_source) {
  run::RunConfig config = continued("kerple_log + log_n");
  config.train_len = 32;
  BOOST_TEST(completed(config).posenc().find("log_n(mode=clipped, train_len=16)") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(model_and_optimisation_come_from_the_source) {
  const run::SourceRun of = run::open_source(base(), {}, {});
  const run::Settings settings = run::inherited(of, /*with_data=*/true);
  for (const char* key : {"d-model", "posenc", "train-len", "lr", "steps", "seed", "data"})
    BOOST_TEST(!run::value_of(settings, key).empty(), key);
  for (const char* key : {"name", "threads", "device", "precision", "keep", "init-from"})
    BOOST_TEST(run::value_of(settings, key).empty(), key);
  BOOST_TEST(run::value_of(run::inherited(of, /*with_data=*/false), "data").empty());
}

BOOST_AUTO_TEST_CASE(steps_of_several_lengths_resume_to_the_bit) {
  run::RunConfig config = continued("alibi");
  config.drop_learned = true;
  config.lengths = {"0.5:16", "0.5:24"};
  config.order = "documents";
  const std::string one = made("lengths-one", completed(config)),
                    two = made("lengths-two", completed(config), 3);
  {
    TrainingRun run = TrainingRun::resume(completed(config), two);
    go(run);
  }
  for (const char* file : {kModel, "optimizer.safetensors"})
    BOOST_CHECK(bytes(one, 8, file) == bytes(two, 8, file));
  BOOST_CHECK(metrics(one) == metrics(two));
  BOOST_TEST(metrics(one)[4][1] != std::to_string(8 * 4 * 16));  // tokens
  BOOST_CHECK(std::filesystem::exists(one + "/config.conf"));
}

BOOST_AUTO_TEST_CASE(the_saved_configuration_repeats_a_continued_run) {
  const std::string first = made("saved", completed(continued("kerple_log + log_n"))),
                    again = toy().path("saved-again");
  const run::RunConfig config =
      run::to_run_config("config.conf", run::RunFolder::open(first).config());
  TrainingRun run = TrainingRun::start(run::resolve(config), again);
  go(run);
  BOOST_CHECK(bytes(first, 8, kModel) == bytes(again, 8, kModel));
}

BOOST_AUTO_TEST_SUITE_END()
