// Masked language modelling of encoders on text.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>

#include "apps/run/load_run.h"
#include "apps/run/source_run.h"
#include "apps/run/training_data.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "tests/apps/toy_run.h"
#include "tests/apps/train/training_calls.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_masked_training)  // ctest: threads on_cuda

using namespace farfield;
using namespace farfield::train;
using farfield::test::base;
using farfield::test::bytes;
using farfield::test::go;
using farfield::test::made;
using farfield::test::metrics;
using farfield::test::toy;

namespace {

run::RunConfig masked(const std::string& posenc = "sinusoidal") {
  run::RunConfig config = toy().config(posenc);
  config.mask = "none";
  return config;
}

run::RunConfig continued(const std::string& from, run::RunConfig config) {
  config.init_from = from;
  run::complete(config, run::open_source(from, {}, {}));
  return config;
}

// The mean nll of the targets of a batch under a model, from its logits.
double loss_by_hand(const Transformer& model, const data::Batch& batch) {
  const auto n_row = static_cast<int64_t>(batch.rows.size());
  const Device device = model.encoding().config().device;
  const std::vector<double> logits =
      model.logits(Tensor::from(batch.inputs, {n_row, batch.seq_len}, device)).to_vector();
  const auto n_vocab = static_cast<size_t>(model.config().vocab_size);
  double total = 0;
  int n = 0;
  for (size_t i = 0; i < batch.targets.size(); ++i) {
    if (batch.targets[i] == data::kNotScored) continue;
    const double* const row = logits.data() + i * n_vocab;
    double sum = 0;
    for (size_t v = 0; v < n_vocab; ++v) sum += std::exp(row[v]);
    total += std::log(sum) - row[batch.targets[i]];
    ++n;
  }
  return total / n;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_stopped_run_goes_on_to_the_same_bits) {
  const std::string one = made("masked-one", run::resolve(masked())),
                    two = made("masked-two", run::resolve(masked()), 3);
  {
    TrainingRun run = TrainingRun::resume(run::resolve(masked()), two);
    go(run);
  }
  for (const char* file : {"model.safetensors", "optimizer.safetensors"})
    BOOST_CHECK(bytes(one, 8, file) == bytes(two, 8, file));
  BOOST_CHECK(metrics(one) == metrics(two));
  run::RunConfig other = masked();
  other.masked = 0.3;
  BOOST_CHECK_EXCEPTION(TrainingRun::resume(run::resolve(other), two), ConfigError,
                        says("--masked: expected 0.15, as the run was started, got 0.3"));
}

BOOST_AUTO_TEST_CASE(the_loss_is_the_mean_over_the_masked_tokens_of_the_batch) {
  for (const char* reduce : {"on", "off"}) {  // a micro-batch for each sequence, or one for all
    run::RunConfig config = masked();
    config.deterministic_reduce = reduce;
    const run::ResolvedConfig resolved = run::resolve(config);
    const run::TrainingData data = run::open_data(resolved);
    const data::Batch batch = run::batches_of(resolved, data)(0);
    Trainer trainer(resolved, data);
    const double want = loss_by_hand(trainer.model(), batch);
    BOOST_TEST(std::abs(trainer.step().loss - want) < 1e-5, reduce);
  }
}

// Its text is the causal run's, but for the masked tokens; 2 of 16.
BOOST_AUTO_TEST_CASE(a_batch_is_the_text_with_tokens_masked) {
  const run::ResolvedConfig config = run::resolve(masked());
  const run::TrainingData data = run::open_data(config);
  const data::Batch batch = run::batches_of(config, data)(5),
                    text = run::batches_of(run::resolve(toy().config("sinusoidal")), data)(5);
  BOOST_TEST_REQUIRE(batch.inputs.size() == 64u);
  int n = 0;
  for (size_t i = 0; i < batch.inputs.size(); ++i) {
    const bool is_chosen = batch.targets[i] != data::kNotScored;
    n += is_chosen;
    BOOST_TEST((is_chosen ? batch.targets[i] : batch.inputs[i]) == text.inputs[i]);
  }
  BOOST_TEST(n == 8);
}

BOOST_AUTO_TEST_CASE(the_mask_token_is_recorded_and_found) {
  const std::string path = made("masked-recorded", run::resolve(masked()));
  const run::LoadedRun loaded = run::load_run(path);
  BOOST_TEST(loaded.model.config().sees_later);
  BOOST_TEST(loaded.model.config().vocab_size == 320);
  BOOST_TEST(loaded.mask_token.value() == 257);
  BOOST_TEST(loaded.config.masked == 0.15);
  BOOST_TEST(run::value_of(loaded.folder.config(), "masked") == "0.15");
  BOOST_TEST(!run::load_run(base()).mask_token.has_value());
  BOOST_TEST(run::value_of(run::resolve(toy().config()).settings, "masked") == "");

  Json manifest = run::read_manifest(loaded.folder);
  for (const Json& bad : {Json(320), Json(-1), Json("257"), Json(2.5)}) {
    manifest["mask_token"] = bad;
    write_file_atomic(loaded.folder.manifest(), write_json(manifest));
    BOOST_CHECK_EXCEPTION(run::load_run(path), IoError, says("expected the id of the mask token"));
  }
}

// 320 ids leave no row of the padding free.
BOOST_AUTO_TEST_CASE(a_full_vocabulary_grows_by_the_padding) {
  const run::TrainingData bytes = run::open_data(run::resolve(masked()));
  const data::Tokens& tokens = bytes.corpora().front().split("train");
  std::vector<int32_t> ids(4000);
  tokens.copy(0, 4000, ids.data());
  std::string file;
  for (const int32_t id : ids) {
    file += static_cast<char>(id & 255);
    file += static_cast<char>(id >> 8);
  }
  write_file_atomic(toy().folder / "ids.bin", file);
  for (const auto& [n_vocab, n_row] : {std::pair{319, 320}, {320, 384}, {321, 384}}) {
    run::RunConfig config = masked();
    config.data = {toy().path("ids.bin")};
    config.data_type = "u16";
    config.vocab_size = n_vocab;
    const run::ResolvedConfig resolved = run::resolve(config);
    const run::TrainingData data = run::open_data(resolved);
    BOOST_TEST(run::vocab_size_of(resolved, data) == n_row);
    BOOST_TEST(run::masking_of(resolved, data).mask_token == n_vocab);
    config.mask.reset();
    BOOST_TEST(run::vocab_size_of(run::resolve(config), data) == data.vocab_size());
    const std::string path = made(concat("masked-", n_vocab), resolved, 1);
    BOOST_TEST(run::load_run(path).mask_token.value() == n_vocab);
  }
}

BOOST_AUTO_TEST_CASE(valid_loss_is_of_masked_tokens) {
  const run::ResolvedConfig config = run::resolve(masked());
  const run::TrainingData data = run::open_data(config);
  Trainer trainer(config, data);
  const data::Tokens& tokens = data.corpora().front().split("valid");
  const int64_t length = config.train_len(), n = config.valid_windows;
  const int64_t last = tokens.size() - length - 1;
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {  // each window by itself
    data::Batch one;
    one.seq_len = length;
    one.rows.resize(1);
    one.inputs.resize(static_cast<size_t>(length));
    tokens.copy(last / (n - 1) * i, length, one.inputs.data());
    one.targets.assign(one.inputs.size(), data::kNotScored);
    for (const int64_t place :
         data::masked_places(length, 0.15, data::masking_random(0, "validation", i))) {
      const auto at = static_cast<size_t>(place);
      one.targets[at] = std::exchange(one.inputs[at], 257);
    }
    sum += loss_by_hand(trainer.model(), one);
  }
  BOOST_TEST(std::abs(trainer.valid_loss().value() - sum / static_cast<double>(n)) < 1e-5);
}

BOOST_AUTO_TEST_CASE(wrong_combinations_are_refused) {
  const auto refuses = [&](const auto& change, const char* message) {
    run::RunConfig changed = masked();
    change(changed);
    BOOST_CHECK_EXCEPTION(run::resolve(changed), ConfigError, says(message));
  };
  refuses([](auto& c) { c.mask.reset(), c.masked = 0.15; }, "--masked: expected --mask none");
  refuses([](auto& c) { c.mask = "causal", c.masked = 0.15; }, "--masked: expected --mask none");
  for (const double share : {0.0, 1.0, -0.1, std::nan("")})
    refuses([&](auto& c) { c.masked = share; }, "--masked: expected a share above 0 and below 1");
  refuses([](auto& c) { c.posenc = "alibi"; }, "for an encoder");
  refuses([](auto& c) { c.cutoffs = "100,120"; }, "--cutoffs: expected none with --mask none");
}

BOOST_AUTO_TEST_CASE(weights_go_on_with_their_mask_alone) {
  const std::string path = made("masked-source", run::resolve(masked()));
  const std::string tuned = made("masked-tuned", run::resolve(continued(path, masked())), 0);
  BOOST_CHECK(bytes(tuned, 0, "model.safetensors") == bytes(path, 8, "model.safetensors"));
  BOOST_TEST(run::load_run(tuned).mask_token.value() == 257);
  BOOST_CHECK_EXCEPTION(continued(path, toy().config("sinusoidal")), ConfigError,
                        says("--mask: expected none, as " + path));
  BOOST_CHECK_EXCEPTION(continued(base(), masked()), ConfigError,
                        says("--mask: expected causal, as " + base()));
}

BOOST_AUTO_TEST_SUITE_END()
