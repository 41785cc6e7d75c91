#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "apps/train/trainer.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "tests/apps/toy_run.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_trainer)  // ctest: on_cuda

using namespace farfield;
using namespace farfield::train;
using farfield::test::toy;

namespace {

Trainer trainer(const run::RunConfig& config) {
  return {run::resolve(config), data::Corpus::open(config.data.front())};
}

std::vector<double> losses(Trainer& t, int64_t n) {
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(t.step().loss);
  return values;
}

bool same_bits(const run::NamedTensors& a, const run::NamedTensors& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const Tensor &x = a[i].second, &y = b[i].second;
    if (a[i].first != b[i].first || x.size_bytes() != y.size_bytes() ||
        std::memcmp(x.raw_data(), y.raw_data(), static_cast<size_t>(x.size_bytes())) != 0)
      return false;
  }
  return true;
}

run::Checkpoint snapshot(const Trainer& t) {
  run::Checkpoint c;
  c.state = t.state();
  for (const auto& [name, tensor] : t.model_tensors()) c.model[name] = tensor.clone();
  for (const auto& [name, tensor] : t.optimizer_tensors()) c.optimizer[name] = tensor.clone();
  return c;
}

void poison(const std::vector<Parameter>& parameters) {
  Tensor grad = parameters[1].value.grad();
  grad.data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
}

}  // namespace

BOOST_AUTO_TEST_CASE(training_lowers_the_loss) {
  run::RunConfig config = toy().config();
  config.steps = 60;
  config.lr = 1e-2;
  Trainer t = trainer(config);
  const std::vector<double> trace = losses(t, 60);
  BOOST_TEST(trace.front() > 5.5);  // about ln 320 at first
  BOOST_TEST(trace.back() < 3.5);
  BOOST_TEST(t.is_done());
  BOOST_TEST(*t.valid_loss() < 3.5);
  BOOST_TEST(t.state().tokens == 60 * 64);
}

namespace {
std::atomic<int64_t> questions{0}, due_after{0};
bool is_due() { return ++questions > due_after; }
}  // namespace

BOOST_AUTO_TEST_CASE(a_step_that_is_given_up_changes_nothing_and_is_repeated) {
  run::RunConfig config = toy().config();
  config.accumulate = 2;
  config.hidden_dropout = 0.2;
  for (const bool checkpointing : {false, true}) {
    config.checkpoint_activations = checkpointing;
    Trainer whole = trainer(config), often = trainer(config);
    const std::vector<double> wanted = losses(whole, 3);
    losses(often, 2);
    const run::Checkpoint before = snapshot(often);
    often.give_up_when(is_due);
    questions = 0;
    due_after = 1'000'000'000;
    Trainer third = trainer(config);  // how often a step asks
    third.restore(before);
    third.give_up_when(is_due);
    third.step();
    const int64_t all = questions;
    BOOST_TEST_REQUIRE(all > 50);
    for (int64_t after = 0; after < all; after += 1 + all / 20) {
      questions = 0;
      due_after = after;
      BOOST_CHECK_THROW(often.step(), Interrupted);
      BOOST_TEST(often.state().step == 2);
      BOOST_TEST(often.state().optimizer_t == before.state.optimizer_t);
      for (const auto& [name, tensor] : often.model_tensors())
        BOOST_CHECK(same_bits({{name, tensor}}, {{name, before.model.at(name)}}));
      for (const auto& [name, tensor] : often.optimizer_tensors())
        BOOST_CHECK(same_bits({{name, tensor}}, {{name, before.optimizer.at(name)}}));
    }
    due_after = 1'000'000'000;
    BOOST_TEST(often.step().loss == wanted[2]);
    BOOST_TEST(same_bits(whole.model_tensors(), often.model_tensors()));
    BOOST_TEST(same_bits(whole.optimizer_tensors(), often.optimizer_tensors()));
  }
}

BOOST_AUTO_TEST_CASE(a_validation_can_be_given_up) {
  Trainer t = trainer(toy().config());
  const std::optional<double> wanted = t.valid_loss();
  t.give_up_when(is_due);
  questions = 0;
  due_after = 10;
  BOOST_CHECK_THROW(t.valid_loss(), Interrupted);
  due_after = 1'000'000'000;
  BOOST_TEST(*t.valid_loss() == *wanted);
}

BOOST_AUTO_TEST_CASE(a_restored_run_goes_on_bit_for_bit) {
  for (const char* precision : {"fp32", "bf16"}) {
    run::RunConfig config = toy().config();
    config.precision = precision;
    config.hidden_dropout = 0.2;
    Trainer whole = trainer(config);
    losses(whole, 3);
    const run::Checkpoint middle = snapshot(whole);
    const std::vector<double> rest = losses(whole, 5);

    Trainer resumed = trainer(config);
    resumed.restore(middle);
    BOOST_TEST(losses(resumed, 5) == rest, boost::test_tools::per_element());
    BOOST_TEST(same_bits(whole.model_tensors(), resumed.model_tensors()));
    BOOST_TEST(same_bits(whole.optimizer_tensors(), resumed.optimizer_tensors()));
  }
}

BOOST_AUTO_TEST_CASE(a_run_by_nag_learns_and_goes_on_bit_for_bit) {
  run::RunConfig config = toy().config();
  config.steps = 60;
  config.optimizer = "nag";
  config.momentum = 0.9;
  config.schedule = "fairseq";
  config.lr = 0.5;
  config.lr_start = 1e-7;
  config.lr_end = 1e-4;
  config.clip = 0.1;
  Trainer whole = trainer(config);
  const std::vector<double> begin = losses(whole, 30);
  const run::Checkpoint middle = snapshot(whole);
  const std::vector<double> rest = losses(whole, 30);
  BOOST_TEST(begin.front() > 5.5);
  BOOST_TEST(rest.back() < 4);
  Trainer resumed = trainer(config);
  resumed.restore(middle);
  BOOST_TEST(losses(resumed, 30) == rest, boost::test_tools::per_element());
  BOOST_TEST(same_bits(whole.model_tensors(), resumed.model_tensors()));
  BOOST_TEST(same_bits(whole.optimizer_tensors(), resumed.optimizer_tensors()));
}

BOOST_AUTO_TEST_CASE(a_miniature_of_baevskis_model_learns_and_goes_on_bit_for_bit) {
  run::RunConfig config = toy().config();
  config.preset = "baevski-247m";
  config.n_head = 2;
  config.d_model = 32;
  config.cutoffs = "100,112";  // letters from 97 on: all bands are in use
  config.batch = 8;
  config.accumulate = 2;
  config.checkpoint_activations = true;
  config.steps = 40;
  config.momentum = 0.9;
  for (const char* precision : {"fp32", "bf16"}) {
    config.precision = precision;
    Trainer whole = trainer(config);
    const std::vector<double> begin = losses(whole, 30);
    const run::Checkpoint middle = snapshot(whole);
    const std::vector<double> rest = losses(whole, 10);
    BOOST_TEST(begin.front() > 5.5);
    BOOST_TEST(*whole.valid_loss() < 3.7);
    Trainer resumed = trainer(config);
    resumed.restore(middle);
    BOOST_TEST(losses(resumed, 10) == rest, boost::test_tools::per_element());
    BOOST_TEST(same_bits(whole.model_tensors(), resumed.model_tensors()));
    BOOST_TEST(same_bits(whole.optimizer_tensors(), resumed.optimizer_tensors()));
  }
}

BOOST_AUTO_TEST_CASE(logits_in_bfloat16_train_nearly_the_same) {
  run::RunConfig config = toy().config();
  config.precision = "bf16";
  config.steps = 20;
  const auto losses = [&](const std::optional<std::string>& logits) {
    config.logits = logits;
    Trainer t(run::resolve(config), data::Corpus::open(config.data.front()));
    std::vector<double> all;
    while (!t.is_done()) all.push_back(t.step().loss);
    all.push_back(*t.valid_loss());  // of logits in float32
    return all;
  };
  const std::vector<double> rounded = losses("bf16"), usual = losses({});
  BOOST_TEST(losses("fp32") == usual, boost::test_tools::per_element());
  BOOST_TEST((rounded != usual));
  for (size_t i = 0; i < usual.size(); ++i)
    BOOST_TEST(rounded[i] == usual[i], boost::test_tools::tolerance(0.01));
}

BOOST_AUTO_TEST_CASE(dropout_acts_in_training_and_not_in_validation) {
  run::RunConfig config = toy().config();
  config.lr = 0;  // the weights stay, so what differs is the mask
  Trainer plain = trainer(config);
  config.hidden_dropout = 0.2;
  Trainer dropping = trainer(config);
  const std::vector<double> a = losses(plain, 3), b = losses(dropping, 3);
  for (const size_t i : {0, 1, 2}) BOOST_TEST(a[i] != b[i]);
  BOOST_TEST(*plain.valid_loss() == *dropping.valid_loss());
}

BOOST_AUTO_TEST_CASE(the_number_of_threads_does_not_change_a_bit) {
  const int before = thread_count();
  set_thread_count(1);
  Trainer first = trainer(toy().config());
  const std::vector<double> want = losses(first, 4);
  for (const int n : {2, 3}) {
    set_thread_count(n);
    Trainer other = trainer(toy().config());
    BOOST_TEST(losses(other, 4) == want, boost::test_tools::per_element());
    BOOST_TEST(same_bits(first.model_tensors(), other.model_tensors()));
  }
  set_thread_count(before);
}

BOOST_AUTO_TEST_CASE(pieces_give_the_same_step_up_to_rounding) {
  const auto compare = [](run::RunConfig config) {
    config.batch = 8;
    config.deterministic_reduce = "off";
    Trainer whole = trainer(config);
    config.accumulate = 4;
    Trainer accumulated = trainer(config);
    config.accumulate = 1;
    config.deterministic_reduce = "on";
    Trainer pieces = trainer(config);
    for (int i = 0; i < 3; ++i) {
      const StepResult want = whole.step();
      for (Trainer* const other : {&accumulated, &pieces}) {
        const StepResult got = other->step();
        BOOST_TEST(got.loss == want.loss, boost::test_tools::tolerance(1e-5));
        BOOST_TEST(got.grad_norm == want.grad_norm, boost::test_tools::tolerance(1e-4));
      }
    }
  };
  // Positions of a draw for the batch, of one for each sequence, and a penalty on each row.
  for (const char* posenc : {"kerple_log", "sinusoidal + randomized(64)", "rope + shape(64)",
                             "cape", "relu_attention(penalty=0.1)"})
    BOOST_TEST_CONTEXT(posenc) { compare(toy().config(posenc)); }
  run::RunConfig dropping = toy().config();  // micro-batches have the masks of the whole batch
  dropping.hidden_dropout = dropping.attention_dropout = dropping.activation_dropout = 0.3;
  compare(dropping);
}

BOOST_AUTO_TEST_CASE(a_batch_is_cut_into_pieces_by_its_shape_alone) {
  const auto n_piece = [](int64_t batch, int64_t accumulate, bool is_deterministic) {
    return StepShape{
        .batch_size = batch, .accumulate = accumulate, .deterministic_reduce = is_deterministic}
        .n_piece();
  };
  BOOST_TEST(n_piece(32, 1, true) == 8);
  BOOST_TEST(n_piece(4, 1, true) == 4);
  BOOST_TEST(n_piece(6, 1, true) == 2);
  BOOST_TEST(n_piece(12, 3, true) == 6);
  BOOST_TEST(n_piece(64, 16, true) == 16);
  BOOST_TEST(n_piece(32, 1, false) == 1);
  BOOST_TEST(n_piece(32, 4, false) == 4);
  const auto own = [](StepShape shape, int rank, int n_process) {
    const OwnPieces pieces = OwnPieces::of(shape, rank, n_process);
    return std::vector<int64_t>{pieces.n, pieces.n_sequence, pieces.first};
  };
  const StepShape shape{.batch_size = 24, .accumulate = 4, .deterministic_reduce = true};
  BOOST_TEST(own(shape, 1, 4) == (std::vector<int64_t>{2, 3, 6}));
  StepShape free = shape;
  free.deterministic_reduce = false;
  BOOST_TEST(own(free, 2, 3) == (std::vector<int64_t>{2, 4, 16}));
  BOOST_TEST(own(free, 7, 8) == (std::vector<int64_t>{1, 3, 21}));
  BOOST_CHECK_EXCEPTION(own(shape, 0, 3), ConfigError,
                        says("expected a power of two of processes that divides the 8 pieces that "
                             "the batch of 24 is summed in, got 3"));
  BOOST_CHECK_EXCEPTION(own(free, 0, 5), ConfigError,
                        says("expected a batch that 5 processes can share evenly, got 24"));
}

BOOST_AUTO_TEST_CASE(checkpointed_activations_give_the_same_bits) {
  run::RunConfig config = toy().config();
  config.hidden_dropout = 0.2;
  Trainer plain = trainer(config);
  config.checkpoint_activations = true;
  Trainer saving = trainer(config);
  BOOST_TEST(losses(plain, 3) == losses(saving, 3), boost::test_tools::per_element());
  BOOST_TEST(same_bits(plain.model_tensors(), saving.model_tensors()));
}

BOOST_AUTO_TEST_CASE(a_gradient_that_is_not_finite_never_reaches_the_weights) {
  Trainer t = trainer(toy().config());
  losses(t, 2);
  const run::Checkpoint before = snapshot(t);
  t.call_after_backward([](int64_t, const std::vector<Parameter>& p) { poison(p); });
  const StepResult bad = t.step();
  const std::string name = t.model_tensors()[1].first;
  for (const std::string& part :
       {std::string("step 3: expected finite numbers, got loss "), std::string("gradient norm nan"),
        std::string("windows at train tokens "), "first to go wrong: gradient of '" + name + "'"})
    BOOST_TEST(bad.problem.find(part) != std::string::npos, bad.problem);
  BOOST_TEST(t.state().step == 2);
  BOOST_TEST(t.state().optimizer_t == 2);
  for (const auto& [tensor, value] : t.model_tensors())
    BOOST_TEST(value.to_vector() == before.model.at(tensor).to_vector(),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_op_that_overflows_is_named) {
  run::RunConfig config = toy().config();
  config.lr = 1e30;
  config.clip = 0;
  Trainer t = trainer(config);
  StepResult bad;
  while (bad.problem.empty() && !t.is_done()) bad = t.step();
  BOOST_TEST(bad.problem.find("first to go wrong: ") != std::string::npos, bad.problem);
  BOOST_TEST(bad.problem.find("nothing when repeated") == std::string::npos, bad.problem);
}

BOOST_AUTO_TEST_CASE(a_step_left_out_is_counted_and_its_update_is_not) {
  Trainer t = trainer(toy().config());
  t.leave_out(2);
  t.step();
  BOOST_TEST(t.is_next_left_out());
  t.skip_step();
  BOOST_TEST(t.step().step == 3);
  BOOST_TEST(t.state().optimizer_t == 2);
  BOOST_TEST(t.state().skipped == std::vector<int64_t>{2}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_batch_that_was_fetched_early_is_not_taken_for_another) {
  run::RunConfig config = toy().config();
  config.lr = 1e-30;  // the weights stay: the loss tells the batch
  Trainer early = trainer(config), direct = trainer(config);
  const double first = early.step().loss;  // has fetched the second
  early.skip_step();
  for (int i = 0; i < 2; ++i) direct.skip_step();
  const double third = direct.step().loss;
  BOOST_TEST(early.step().loss == third);
  BOOST_TEST(first != third);
  Trainer second = trainer(config);
  second.skip_step();
  BOOST_TEST(second.step().loss != third);
}

BOOST_AUTO_TEST_CASE(a_checkpoint_of_another_configuration_or_data_is_refused) {
  Trainer t = trainer(toy().config("alibi"));
  run::Checkpoint other = snapshot(trainer(toy().config("kerple_log")));
  BOOST_CHECK_EXCEPTION(t.restore(other), ConfigError,
                        says("[checkpoint] expected a checkpoint of this configuration, got one "
                             "with posenc = kerple_log"));
  other = snapshot(t);
  other.state.data_hash = "other";
  BOOST_CHECK_EXCEPTION(t.restore(other), ConfigError, says("expected the data the run was"));
  other = snapshot(t);
  other.optimizer.erase(other.optimizer.begin());
  BOOST_CHECK_THROW(t.restore(other), IoError);
  other = snapshot(t);
  other.model.erase(other.model.begin());
  BOOST_CHECK_THROW(t.restore(other), IoError);
}

BOOST_AUTO_TEST_CASE(a_train_length_beyond_the_data_is_refused) {
  run::RunConfig config = toy().config();
  config.train_len = 1'000'000;
  BOOST_CHECK_THROW(trainer(config), ConfigError);
}

BOOST_AUTO_TEST_SUITE_END()
