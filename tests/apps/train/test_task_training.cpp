#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>

#include "apps/run/load_run.h"
#include "apps/run/source_run.h"
#include "apps/run/training_data.h"
#include "engine/base/error.h"
#include "tests/apps/toy_run.h"
#include "tests/apps/train/training_calls.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_task_training)  // ctest: threads on_cuda

using namespace farfield;
using namespace farfield::train;
using farfield::test::bytes;
using farfield::test::go;
using farfield::test::made;
using farfield::test::metrics;
using farfield::test::toy;

namespace {

run::RunConfig on(const std::string& task) {
  run::RunConfig config = toy().config("alibi");
  config.data.clear();
  config.train_len.reset();
  config.task = task;
  return config;
}

double first_loss(const std::string& run) { return std::stod(metrics(run)[1][2]); }

}  // namespace

BOOST_AUTO_TEST_CASE(a_stopped_run_on_a_task_goes_on_to_the_same_bits) {
  const run::RunConfig config = on("flip_flop(p_i=0.5)");
  const std::string one = made("task-one", run::resolve(config)),
                    two = made("task-two", run::resolve(config), 3);
  {
    TrainingRun run = TrainingRun::resume(run::resolve(config), two);
    go(run);
  }
  for (const char* file : {"model.safetensors", "optimizer.safetensors"})
    BOOST_CHECK(bytes(one, 8, file) == bytes(two, 8, file));
  BOOST_CHECK(metrics(one) == metrics(two));
}

// Reads of flip-flop samples differ in number, so micro-batches have different numbers of answers.
BOOST_AUTO_TEST_CASE(the_loss_is_the_mean_over_the_answers_of_the_batch) {
  run::RunConfig config = on("flip_flop(p_i=0.5)");
  const std::string pieces =
      made("task-pieces", run::resolve(config));  // a micro-batch for each sequence
  config.deterministic_reduce = "off";
  const std::string whole = made("task-whole", run::resolve(config));
  BOOST_TEST(std::abs(first_loss(pieces) - first_loss(whole)) < 1e-5);
  // Once more, from the initial weights: the sum of -log p over the answers, by their number.
  const run::ResolvedConfig resolved = run::resolve(config);
  const run::TrainingData data = run::open_data(resolved);
  const data::Batch batch = run::batches_of(resolved, data)(0);
  const Trainer trainer(resolved, data);
  const Shape shape{resolved.batch, batch.seq_len};
  std::vector<int32_t> targets = batch.targets;
  for (int32_t& id : targets) id = std::max(id, 0);
  const std::vector<double> nll = trainer.model()
                                      .nll(Tensor::from(batch.inputs, shape, resolved.device),
                                           Tensor::from(targets, shape, resolved.device))
                                      .to_vector();
  double sum = 0;
  int n = 0;
  for (size_t i = 0; i < nll.size(); ++i)
    if (batch.targets[i] != data::kNotScored) sum += nll[i], ++n;
  Trainer first(resolved, data);
  BOOST_TEST(std::abs(first.step().loss - sum / n) < 1e-5);
}

BOOST_AUTO_TEST_CASE(an_encoder_learns_a_task_and_keeps_its_mask) {
  run::RunConfig config = on("copy(alphabet=8)");
  config.posenc = "sinusoidal";
  config.mask = "none";
  const run::ResolvedConfig resolved = run::resolve(config);
  BOOST_TEST(resolved.model.sees_later);
  BOOST_TEST(run::value_of(resolved.settings, "mask") == "none");
  const std::string folder = made("task-encoder", resolved);
  BOOST_TEST(run::load_run(folder, {}).model.config().sees_later);
  const data::Batch batch = run::batches_of(resolved, run::open_data(resolved))(0);
  const int64_t length = batch.seq_len / 2;  // symbols, SEP, symbols
  for (int64_t t = length; t < batch.seq_len; ++t)
    BOOST_TEST(batch.inputs[static_cast<size_t>(t)] == 8);  // SEP

  config.mask = "causal";
  BOOST_TEST(run::value_of(run::resolve(config).settings, "mask") == "");
  config.mask = "none";
  config.posenc = "alibi";
  BOOST_CHECK_EXCEPTION(run::resolve(config), ConfigError, says("for an encoder"));
  config.posenc = "none";
  config.masked = 0.2;
  BOOST_CHECK_EXCEPTION(run::resolve(config), ConfigError,
                        says("--masked: expected none with --task"));
}

BOOST_AUTO_TEST_CASE(a_task_decides_the_length_of_its_sequences) {
  const run::ResolvedConfig config = run::resolve(on("copy(alphabet=8)"));
  BOOST_TEST(config.task == "copy(alphabet=8, eos=none)");
  BOOST_TEST(config.train_len() == 40);  // 20 symbols, SEP, 20 symbols, but for the last
  run::RunConfig other = on("parity");
  other.task_lengths = {"3..5", "9"};
  BOOST_TEST(run::resolve(other).task_lengths == (std::vector<int64_t>{3, 4, 5, 9}));
  BOOST_TEST(run::resolve(other).train_len() == 10);
  const auto refuses = [&](const auto& change, const char* message) {
    run::RunConfig changed = on("copy");
    change(changed);
    BOOST_CHECK_EXCEPTION(run::resolve(changed), ConfigError, says(message));
  };
  refuses([](auto& c) { c.train_len = 7; }, "--train-len: expected 40");
  refuses([](auto& c) { c.data = {"x"}; }, "--data: expected none with --task");
  refuses([](auto& c) { c.task = "copie"; }, "copy");
  refuses([](auto& c) { c.task_lengths = {"5..3"}; }, "--task-lengths: expected lengths N");
  refuses([](auto& c) { c.task_lengths = {"0"}; }, "--task-lengths: expected lengths N");
  refuses([](auto& c) { c.lengths = {"1:8"}; }, "--lengths: expected none with --task");
  run::RunConfig text = toy().config();
  text.task_lengths = {"3"};
  BOOST_CHECK_EXCEPTION(run::resolve(text), ConfigError, says("expected --task beside it"));
}

BOOST_AUTO_TEST_CASE(a_task_can_go_on_from_another_run_of_it) {
  const std::string first = made("task-base", run::resolve(on("copy")));
  run::RunConfig config = on("copy");
  config.init_from = first;
  config.lora = "rank=2";
  run::complete(config, run::open_source(first, {}, {}));
  const std::string tuned = made("task-tuned", run::resolve(config));
  BOOST_TEST(run::load_run(tuned).config.task == "copy(alphabet=2, eos=none)");
}

BOOST_AUTO_TEST_SUITE_END()
