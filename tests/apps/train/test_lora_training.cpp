#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/run/load_run.h"
#include "apps/run/source_run.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/apps/toy_run.h"
#include "tests/apps/train/training_calls.h"
#include "tests/support/all_close.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

BOOST_AUTO_TEST_SUITE(test_lora_training)  // ctest: threads on_cuda

using namespace farfield;
using namespace farfield::train;
using farfield::test::base;
using farfield::test::bytes;
using farfield::test::go;
using farfield::test::made;
using farfield::test::metrics;
using farfield::test::toy;
namespace fs = std::filesystem;

namespace {

run::ResolvedConfig lora(const std::string& from, const std::string& text,
                         const std::vector<std::string>& also = {}) {
  run::RunConfig config = toy().config();
  config.init_from = from;
  config.lora = text;
  config.train_also = also;
  config.lr = 0.01;
  run::complete(config, run::open_source(from, {}, {}));
  return run::resolve(config);
}

constexpr const char* kAdapters = "adapter_model.safetensors";

double valid_loss(const run::ResolvedConfig& config, const std::string& path) {
  return TrainingRun::resume(config, path).trainer().valid_loss().value();
}

}  // namespace

BOOST_AUTO_TEST_CASE(adapters_lower_the_loss_and_their_base_stays_as_it_is) {
  const std::string before = bytes(base(), 8, "model.safetensors");
  const run::ResolvedConfig config = lora(base(), "rank=4,targets=q,v,up,down");
  const std::string path = made("adapters", config);
  BOOST_TEST(
      valid_loss(config, path) <
      TrainingRun::resume(run::resolve(toy().config()), base()).trainer().valid_loss().value());
  BOOST_CHECK(bytes(base(), 8, "model.safetensors") == before);
  BOOST_TEST(!fs::exists(path + "/checkpoints/step-00000008/model.safetensors"));
  const auto manifest = nlohmann::json::parse(read_file(path + "/manifest.json"));
  // q, v: [4, 16] and [16, 4] each; up [4, 16], [64, 4]; down [4, 64], [16, 4]
  BOOST_TEST(manifest["trained_parameters"] == 2 * (64 + 64) + 2 * (64 + 256));
  const auto adapter = nlohmann::json::parse(bytes(path, 8, "adapter_config.json"));
  BOOST_TEST(adapter["r"] == 4);
  BOOST_TEST(adapter["rank_pattern"]["query_key_value"] == 8);
}

BOOST_AUTO_TEST_CASE(a_stopped_run_with_adapters_goes_on_to_the_same_bits) {
  const run::ResolvedConfig config =
      lora(base(), "rank=2,targets=q,dense,head,dropout=0.2", {"norms", "posenc"});
  const std::string one = made("lora-one", config), two = made("lora-two", config, 3);
  {
    TrainingRun run = TrainingRun::resume(config, two);
    go(run);
  }
  for (const char* file : {kAdapters, "optimizer.safetensors", "adapter_config.json"})
    BOOST_CHECK(bytes(one, 8, file) == bytes(two, 8, file));
  BOOST_CHECK(metrics(one) == metrics(two));
}

// The model that is measured has the adapters in its weights, the model that is trained beside
// them.
BOOST_AUTO_TEST_CASE(a_loaded_run_has_its_adapters_in_the_weights) {
  for (const std::string more : {"", ",dora"}) {
    const run::ResolvedConfig config =
        lora(base(), "rank=4,targets=q,k,v,dense,up,down" + more, {"norms"});
    const std::string path = made("loaded" + more, config);
    const run::LoadedRun loaded = run::load_run(path);
    BOOST_TEST(!loaded.model.config().adapters.has_value());
    TrainingRun run = TrainingRun::resume(config, path);
    const Tensor ids = random_ids({2, 16}, 1, 100), targets = random_ids({2, 16}, 2, 100);
    BOOST_TEST(
        all_close(loaded.model.nll(ids, targets), run.trainer().model().nll(ids, targets), 1e-4));
    BOOST_TEST(run::lineage_of(loaded.folder).size() == 1u);
  }
}

BOOST_AUTO_TEST_CASE(a_run_of_no_steps_from_adapters_holds_the_merged_weights) {
  const std::string path = made("to-merge", lora(base(), "rank=4,targets=q,v,up"));
  run::RunConfig config = toy().config();
  config.init_from = path;
  config.steps = 0;
  run::complete(config, run::open_source(path, {}, {}));
  const std::string merged = made("merged", run::resolve(config));
  const run::LoadedRun a = run::load_run(path), b = run::load_run(merged);
  const auto left = a.model.parameters(), right = b.model.parameters();
  for (size_t i = 0; i < left.size(); ++i)
    BOOST_TEST(same_bits(left[i].value, right[i].value), left[i].name);
  BOOST_TEST(run::unfinished_text(b.folder).empty());
  // And adapters can be trained on it, or on the run with adapters itself.
  const std::string on_merged = made("on-merged", lora(merged, "rank=2")),
                    on_adapters = made("on-adapters", lora(path, "rank=2"));
  BOOST_CHECK(bytes(on_merged, 8, kAdapters).size() == bytes(on_adapters, 8, kAdapters).size());
  const Tensor ids = random_ids({1, 16}, 1, 100);
  BOOST_TEST(run::load_run(on_adapters).model.logits(ids).numel() > 0);
}

BOOST_AUTO_TEST_CASE(the_base_is_found_where_the_two_have_moved_together) {
  const std::string home = toy().path("home"), away = toy().path("away");
  fs::create_directory(home);
  fs::copy(base(), home + "/base", fs::copy_options::recursive);
  const run::ResolvedConfig config = lora(home + "/base", "rank=2");
  made("home/adapters", config);
  fs::rename(home, away);
  BOOST_TEST(run::load_run(away + "/adapters").model.parameters().size() > 0u);
  fs::remove_all(away + "/base");
  BOOST_CHECK_EXCEPTION(run::load_run(away + "/adapters"), IoError,
                        says("expected the run whose weights it started from (step 8, weights "));
  fs::copy(toy().path("adapters"), away + "/base", fs::copy_options::recursive);  // another run
  BOOST_CHECK_EXCEPTION(run::load_run(away + "/adapters"), IoError,
                        says("expected the run whose weights it started from (step 8, weights "));
}

BOOST_AUTO_TEST_CASE(training_starts_where_the_base_is) {
  const run::ResolvedConfig config = lora(base(), "rank=2,targets=q,v");
  const std::string path = made("start", config, 0);
  run::RunConfig plain = toy().config();
  BOOST_TEST(valid_loss(config, path) ==
             TrainingRun::resume(run::resolve(plain), base()).trainer().valid_loss().value());
}

// The magnitudes are those of the base, and not of the random weights before it.
BOOST_AUTO_TEST_CASE(training_with_magnitudes_starts_where_the_base_is) {
  const run::ResolvedConfig config = lora(base(), "rank=2,targets=q,v,dense,down,head,dora");
  const std::string path = made("start-magnitudes", config, 0);
  run::RunConfig plain = toy().config();
  const double want =
      TrainingRun::resume(run::resolve(plain), base()).trainer().valid_loss().value();
  BOOST_TEST(std::abs(valid_loss(config, path) - want) < 1e-5);
}

BOOST_AUTO_TEST_CASE(adapters_need_a_base) {
  run::RunConfig config = toy().config();
  config.lora = "rank=4";
  BOOST_CHECK_EXCEPTION(run::resolve(config), ConfigError,
                        says("--lora: expected --init-from RUN"));
  config.lora.reset();
  config.train_also = {"norms"};
  BOOST_CHECK_EXCEPTION(run::resolve(config), ConfigError, says("--train-also: expected --lora"));
  config.train_also.clear();
  config.base_precision = "bf16";
  BOOST_CHECK_EXCEPTION(run::resolve(config), ConfigError,
                        says("--base-precision: expected --lora"));
}

BOOST_AUTO_TEST_SUITE_END()
