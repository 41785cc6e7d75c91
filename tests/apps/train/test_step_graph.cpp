// Training on the device with its steps recorded once and repeated, beside the same training
// without: every number must be the same, bit for bit, whatever happens between steps. Nothing here
// asks whether the device is emulated.

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include "apps/train/trainer.h"
#include "apps/train/training_run.h"
#include "engine/autograd.h"
#include "posenc/registry.h"
#include "tests/apps/toy_run.h"

BOOST_AUTO_TEST_SUITE(test_step_graph)  // ctest: gpu

using namespace farfield;
using namespace farfield::train;
using farfield::test::toy;

namespace {

// A learning rate that warms up and decays, and a norm that is clipped in some steps.
run::RunConfig config_of(const std::string& cuda_graph) {
  run::RunConfig config = toy().config();
  config.device = "cuda";
  config.cuda_graph = cuda_graph;
  config.steps = 20;
  config.lr = 1e-2;
  config.warmup = 0.2;
  config.weight_decay = 0.1;
  config.clip = 1.5;
  return config;
}

Trainer trainer(const run::RunConfig& config) {
  return {run::resolve(config), data::Corpus::open(config.data.front())};
}

run::NamedTensors tensors_of(const Trainer& t) {
  run::NamedTensors all = t.model_tensors();
  for (const auto& tensor : t.optimizer_tensors()) all.push_back(tensor);
  return all;
}

run::Checkpoint snapshot(const Trainer& t) {
  run::Checkpoint c;
  c.state = t.state();
  for (const auto& [name, tensor] : t.model_tensors()) c.model[name] = tensor.to(Device{});
  for (const auto& [name, tensor] : t.optimizer_tensors()) c.optimizer[name] = tensor.to(Device{});
  return c;
}

// Everything that two steps must agree in.
std::vector<double> values_of(const StepResult& result) {
  return {static_cast<double>(result.step), result.loss, result.grad_norm, result.lr};
}

void check_same(const StepResult& got, const StepResult& want) {
  BOOST_TEST(values_of(got) == values_of(want), boost::test_tools::per_element());
  BOOST_TEST(got.problem == want.problem);
}

void check_same_tensors(const Trainer& got, const Trainer& want) {
  const run::NamedTensors a = tensors_of(got), b = tensors_of(want);
  BOOST_REQUIRE_EQUAL(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const Tensor x = a[i].second.to(Device{}), y = b[i].second.to(Device{});
    BOOST_TEST(a[i].first == b[i].first);
    BOOST_REQUIRE_EQUAL(x.size_bytes(), y.size_bytes());
    BOOST_TEST(std::memcmp(x.raw_data(), y.raw_data(), static_cast<size_t>(x.size_bytes())) == 0,
               a[i].first << " differs");
  }
  BOOST_TEST(got.state().optimizer_t == want.state().optimizer_t);
}

// All that others may be given between two steps, full of numbers that would spoil the next one.
void use_memory() {
  std::vector<Tensor> all;
  for (int64_t n = 1; n <= 1 << 15; n += n / 16 + 1)  // every size of block
    for (int i = 0; i < 4; ++i)
      all.push_back(Tensor::full({n}, 1e30, DType::f32, Device{Device::Kind::cuda, 0}));
}

// The encoding keeps 32 MiB of tables: what it kept for training goes, and others get the memory.
void drop_kept_tables(const Trainer& t) {
  for (const int64_t length : {300'000, 300'001})
    t.model().encoding().plan(length, length, posenc::Phase::eval);
}

}  // namespace

BOOST_AUTO_TEST_CASE(recorded_steps_give_the_bits_of_those_that_are_not) {
  const auto compare = [](int64_t steps, const auto& change) {
    run::RunConfig recorded = config_of("auto"), plain = config_of("off");
    recorded.steps = plain.steps = steps;
    change(recorded);
    change(plain);
    Trainer got = trainer(recorded), want = trainer(plain);
    bool was_clipped = false, was_not = false;
    while (!want.is_done()) {
      const StepResult a = got.step(), b = want.step();
      check_same(a, b);
      BOOST_TEST(got.graph().is_recorded() == (b.step > 1));
      (b.grad_norm > *plain.clip ? was_clipped : was_not) = true;
    }
    BOOST_TEST(got.graph().n_nodes() > 50);
    BOOST_TEST(!want.graph().is_recorded());
    check_same_tensors(got, want);
    BOOST_TEST(was_clipped);
    BOOST_TEST(was_not);
  };
  compare(20, [](run::RunConfig&) {});
  compare(8, [](run::RunConfig& config) { config.precision = "bf16"; });
  compare(8, [](run::RunConfig& config) { config.accumulate = 2; });
  compare(8, [](run::RunConfig& config) { config.checkpoint_activations = true; });
  for (const bool checkpointed : {false, true})
    compare(8, [checkpointed](run::RunConfig& config) {  // other masks in each step
      config.hidden_dropout = config.attention_dropout = config.activation_dropout = 0.2;
      config.accumulate = 2;
      config.checkpoint_activations = checkpointed;
    });
}

BOOST_AUTO_TEST_CASE(what_happens_between_steps_does_not_reach_the_memory_of_a_recorded_one) {
  run::RunConfig recorded = config_of("auto"), plain = config_of("off");
  recorded.posenc = plain.posenc = "sinusoidal + kerple_log";
  Trainer got = trainer(recorded), want = trainer(plain);
  while (!want.is_done()) {
    check_same(got.step(), want.step());
    use_memory();
    BOOST_TEST(*got.valid_loss() == *want.valid_loss());
    if (got.state().step % 8 == 3) drop_kept_tables(got);
    use_memory();
  }
  BOOST_TEST(got.graph().is_recorded());
  check_same_tensors(got, want);
}

// Tables that the encoding would have kept from a recording that fails were never computed.
BOOST_AUTO_TEST_CASE(a_recording_that_fails_leaves_nothing_behind) {
  run::RunConfig recorded = config_of("auto"), plain = config_of("off");
  recorded.posenc = plain.posenc = "sinusoidal + kerple_log";
  const FindNonfinite looks_at_all;  // and so waits for each result
  Trainer got = trainer(recorded), want = trainer(plain);
  for (int i = 0; i < 4; ++i) {
    check_same(got.step(), want.step());
    if (i == 0) drop_kept_tables(got);
    use_memory();
    BOOST_TEST(*got.valid_loss() == *want.valid_loss());
  }
  BOOST_TEST(!got.graph().why_not().empty());
  check_same_tensors(got, want);
}

BOOST_AUTO_TEST_CASE(a_recorded_step_that_is_not_finite_changes_nothing_and_says_why) {
  Trainer got = trainer(config_of("auto")), want = trainer(config_of("off"));
  for (int i = 0; i < 4; ++i) check_same(got.step(), want.step());
  const auto bad_step = [](Trainer& t) {
    Tensor weight = t.model_tensors()[0].second;
    const Tensor before = weight.clone();
    weight.assign(Tensor::full(weight.shape(), std::numeric_limits<double>::infinity()));
    const StepResult result = t.step();
    weight.assign(before);
    return result;
  };
  const StepResult a = bad_step(got), b = bad_step(want);
  BOOST_TEST(a.problem == b.problem);
  BOOST_TEST(a.problem.find("first to go wrong: ") != std::string::npos);
  BOOST_TEST(got.state().step == 4);
  check_same_tensors(got, want);
  // the batch is left out
  got.skip_step();
  want.skip_step();
  while (!want.is_done()) check_same(got.step(), want.step());
  BOOST_TEST(got.graph().is_recorded());
  check_same_tensors(got, want);
}

// The logits are zero, and each piece of the batch has a finite gradient of the last norm, close to
// the largest number; their sum is not finite. That shows in the gradients of the step alone, which
// a recorded one leaves where it found memory for them.
BOOST_AUTO_TEST_CASE(a_gradient_of_a_recorded_step_is_named) {
  run::RunConfig recorded = config_of("auto"), plain = config_of("off");
  recorded.accumulate = plain.accumulate = 2;
  Trainer got = trainer(recorded), want = trainer(plain);
  for (int i = 0; i < 3; ++i) check_same(got.step(), want.step());
  const auto bad_step = [](Trainer& t) {
    for (auto [name, tensor] : t.model_tensors()) {
      if (name.find("gpt_neox.final_layer_norm.") == 0)
        tensor.assign(Tensor::zeros(tensor.shape()));
      if (name != "embed_out.weight") continue;
      std::vector<double> rows;  // what the text has against all else
      for (int64_t id = 0; id < tensor.dim(0); ++id)
        rows.insert(
            rows.end(), static_cast<size_t>(tensor.dim(1)),
            (id >= 'a' && id <= 'z') || id == ' ' || id == '.' || id == '\n' ? -3e38 : 3e38);
      tensor.assign(Tensor::from(rows, tensor.shape()));
    }
    return t.step();
  };
  const StepResult a = bad_step(got), b = bad_step(want);
  BOOST_TEST(a.problem == b.problem);
  BOOST_TEST(a.problem.find("first to go wrong: gradient of 'gpt_neox.final_layer_norm.") !=
                 std::string::npos,
             a.problem);
}

BOOST_AUTO_TEST_CASE(a_restored_run_goes_on_with_the_same_bits) {
  Trainer want = trainer(config_of("off")), got = trainer(config_of("auto"));
  for (int i = 0; i < 6; ++i) check_same(got.step(), want.step());
  const run::Checkpoint middle = snapshot(got);
  for (int i = 0; i < 5; ++i) got.step();
  got.restore(middle);  // back in place, as after a step that was not finite
  Trainer resumed = trainer(config_of("auto"));
  resumed.restore(middle);
  BOOST_TEST(!got.graph().is_recorded());
  while (!want.is_done()) {
    const StepResult b = want.step();
    check_same(got.step(), b);
    check_same(resumed.step(), b);
    use_memory();
  }
  BOOST_TEST(got.graph().is_recorded());
  BOOST_TEST(resumed.graph().is_recorded());
  check_same_tensors(got, want);
  check_same_tensors(resumed, want);
}

BOOST_AUTO_TEST_CASE(every_encoding_trains_the_same_whether_it_can_be_recorded_or_not) {
  for (const posenc::Row& row : posenc::registry()) {
    run::RunConfig recorded = config_of("auto"), plain = config_of("off");
    recorded.n_layer = plain.n_layer = 2;  // some need two
    recorded.batch = plain.batch = 2;
    recorded.posenc = plain.posenc = posenc::example_of(row);
    BOOST_TEST_CONTEXT(recorded.posenc) {
      Trainer got = trainer(recorded), want = trainer(plain);
      for (int i = 0; i < 3; ++i) check_same(got.step(), want.step());
      check_same_tensors(got, want);
      BOOST_TEST(got.graph().is_recorded(), got.graph().why_not());
    }
  }
}

// A recorded step reads the data of its own batch, whatever the encoding does with positions.
BOOST_AUTO_TEST_CASE(random_positions_are_drawn_anew_for_each_recorded_step) {
  int n_trained = 0;
  for (const posenc::Row& row : posenc::registry()) {
    run::RunConfig recorded = config_of("auto"), plain = config_of("off");
    for (run::RunConfig* config : {&recorded, &plain})
      config->n_layer = config->batch = config->accumulate = 2;
    const std::string remap = posenc::example_of(row);
    recorded.posenc = remap;
    if (!trainer(recorded).model().encoding().is_random(posenc::Phase::train)) continue;
    for (const char* other : {"sinusoidal", "rope", "alibi", "kerple_log", "fire"}) {
      recorded.posenc = plain.posenc = concat(other, " + ", remap);
      try {
        run::resolve(recorded);
      } catch (const ConfigError&) {
        continue;  // terms that do not fit together
      }
      BOOST_TEST_CONTEXT(recorded.posenc) {
        Trainer got = trainer(recorded), want = trainer(plain);
        for (int i = 0; i < 3; ++i) check_same(got.step(), want.step());
        check_same_tensors(got, want);
        BOOST_TEST(got.graph().is_recorded(), got.graph().why_not());
        ++n_trained;
      }
    }
  }
  BOOST_TEST(n_trained >= 10);
}

BOOST_AUTO_TEST_CASE(a_run_says_once_how_its_steps_are_given) {
  const auto lines_of = [](const std::string& name, const std::string& cuda_graph,
                           std::optional<std::string> cutoffs = {}) {
    run::RunConfig config = config_of(cuda_graph);
    config.cutoffs = std::move(cutoffs);
    config.steps = 4;
    std::ostringstream out;
    cli::Progress progress(out, false);
    TrainingRun::start(run::resolve(config), toy().path(name)).go(progress);
    std::istringstream in(out.str());
    std::vector<std::string> found;
    for (std::string line; std::getline(in, line);)
      if (line.find("CUDA graph") != std::string::npos) found.push_back(line);
    return found;
  };
  const auto recorded = lines_of("recorded", "auto"),
             not_recorded = lines_of("not recorded", "auto", "100,112");
  BOOST_REQUIRE_EQUAL(recorded.size(), 1);
  BOOST_TEST(recorded[0].find("from here on a step is one CUDA graph of ") != std::string::npos);
  BOOST_REQUIRE_EQUAL(not_recorded.size(), 1);
  BOOST_TEST(not_recorded[0].find("steps are not a CUDA graph: the adaptive input and softmax") !=
             std::string::npos);
  BOOST_TEST(lines_of("off", "off").empty());
}

BOOST_AUTO_TEST_SUITE_END()
