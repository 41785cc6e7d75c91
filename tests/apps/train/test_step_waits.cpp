// A training step on the emulated device: how often the host waits for it, and that the batch that
// goes there early is the right one.

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "apps/train/trainer.h"
#include "posenc/registry.h"
#include "tests/apps/toy_run.h"
#include "tests/apps/train/training_calls.h"
#include "tests/support/cuda/capture.h"
#include "tests/support/cuda/copies.h"
#include "tests/support/cuda/fault_in.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_step_waits)  // ctest: emulated

using namespace farfield;
using namespace farfield::train;
using farfield::emulation::n_graph_launches;
using farfield::emulation::n_host_waits;
using farfield::test::toy;

namespace {

run::RunConfig config_on(const char* device) {
  run::RunConfig config = toy().config();
  config.device = device;
  return config;
}

Trainer trainer(const run::RunConfig& config) {
  return {run::resolve(config), data::Corpus::open(config.data.front())};
}

int64_t waits_in_a_step(const run::RunConfig& config) {
  Trainer t = trainer(config);
  t.step();  // tables that are made once
  const int64_t before = n_host_waits();
  t.step();
  return n_host_waits() - before;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_host_waits_once_in_a_step) {
  for (const char* precision : {"fp32", "bf16"})
    for (const int64_t accumulate : {1, 2}) {
      run::RunConfig config = config_on("cuda");
      config.precision = precision;
      config.accumulate = accumulate;
      BOOST_TEST(waits_in_a_step(config) == 1, precision << " in " << accumulate << " pieces");
    }
  run::RunConfig config = config_on("cuda");
  config.checkpoint_activations = true;
  BOOST_TEST(waits_in_a_step(config) == 1);
}

BOOST_AUTO_TEST_CASE(it_waits_once_in_a_step_that_is_recorded_and_in_one_that_is_not) {
  for (const char* cuda_graph : {"auto", "off"}) {
    run::RunConfig config = config_on("cuda");
    config.cuda_graph = cuda_graph;
    Trainer t = trainer(config);
    t.step();
    for (int i = 0; i < 5; ++i) {
      const int64_t waits = n_host_waits(), launches = n_graph_launches();
      t.step();
      BOOST_TEST(n_host_waits() - waits == 1);
      BOOST_TEST(n_graph_launches() - launches == (config.cuda_graph == "auto"));
    }
  }
}

// FARFIELD_CUDA_SYNC=1: also in the steps that would be a graph.
BOOST_AUTO_TEST_CASE(a_fault_of_a_later_step_is_named_when_each_launch_is_waited_for) {
  for (const bool waits : {false, true}) {
    const test::WaitsForEach each(waits);
    Trainer t = trainer(config_on("cuda"));
    for (int i = 0; i < 3; ++i) t.step();
    BOOST_TEST(t.graph().is_recorded() == !waits);
    const test::FaultIn fault(40);
    const std::string message = message_of<BackendError>([&] { t.step(); });
    const auto begins = [&](const std::string& with) { return message.rfind(with, 0) == 0; };
    const bool is_named = begins("[cuda] work of void farfield::") ||
                          begins("[cuda] product of ") || begins("[cuda] copy of ");
    BOOST_TEST(is_named == waits, message);
    BOOST_TEST(message.find(": an illegal memory access was encountered") != std::string::npos,
               message);
  }
}

BOOST_AUTO_TEST_CASE(a_run_whose_launches_are_waited_for_says_why_it_has_no_graph) {
  const test::WaitsForEach each(true);
  std::string said;
  TrainingRun run = TrainingRun::start(run::resolve(config_on("cuda")), toy().path("waited"));
  BOOST_TEST((test::go(run, {}, &said) == cli::kDone));
  const std::string line =
      "[train] steps are not a CUDA graph: [cuda] FARFIELD_CUDA_SYNC=1 asks for each kernel";
  const size_t first = said.find(line);
  BOOST_REQUIRE_MESSAGE(first != std::string::npos, said);
  BOOST_TEST(said.find("CUDA graph", first + line.size()) == std::string::npos, said);
}

BOOST_AUTO_TEST_CASE(no_encoding_makes_it_wait) {
  for (const posenc::Row& row : posenc::registry()) {
    run::RunConfig config = config_on("cuda");
    config.n_layer = 2;
    config.posenc = posenc::example_of(row);
    BOOST_TEST(waits_in_a_step(config) == 1, row.name);
  }
}

BOOST_AUTO_TEST_CASE(steps_are_those_of_the_cpu_whatever_went_to_the_device_early) {
  for (const int64_t accumulate : {1, 2}) {
    run::RunConfig here = config_on("cpu"), there = config_on("cuda");
    here.accumulate = there.accumulate = accumulate;
    Trainer want = trainer(here), got = trainer(there);
    while (!want.is_done()) {
      if (want.state().step == 3) {  // its batch is on its way
        want.skip_step();
        got.skip_step();
      }
      const StepResult a = want.step(), b = got.step();
      BOOST_TEST(b.step == a.step);
      BOOST_TEST(std::abs(b.loss - a.loss) < 2e-5);
      BOOST_TEST(std::abs(b.grad_norm - a.grad_norm) < 1e-4 * (1 + a.grad_norm));
    }
    BOOST_TEST(got.is_done());
  }
}

// Nobody looks at the table that the formula gives until the loss is a NaN.
BOOST_AUTO_TEST_CASE(a_formula_that_loses_its_value_is_named_as_on_the_cpu) {
  const auto message = [](const char* device) {
    run::RunConfig config = config_on(device);
    config.posenc = "kernel(r=0.5, bias=log(r + d))";
    Trainer t = trainer(config);
    t.step();
    for (auto [name, tensor] : t.model_tensors())
      if (name.find("kernel.r") != std::string::npos)
        tensor.assign(Tensor::full(tensor.shape(), -2));
    return message_of<ConfigError>([&] { t.step(); });
  };
  const std::string got = message("cuda");
  BOOST_TEST(got.find("expected a finite number at every distance") != std::string::npos, got);
  BOOST_TEST(got == message("cpu"));
}

BOOST_AUTO_TEST_CASE(a_gradient_that_is_not_finite_never_reaches_the_weights_of_the_device) {
  Trainer t = trainer(config_on("cuda"));
  t.step();
  std::vector<std::vector<double>> before;
  const auto tensors = [&] {
    run::NamedTensors all = t.model_tensors();
    for (const auto& tensor : t.optimizer_tensors()) all.push_back(tensor);
    return all;
  };
  for (const auto& [name, tensor] : tensors()) before.push_back(tensor.to_vector());
  t.call_after_backward([](int64_t, const std::vector<Parameter>& p) {
    Tensor grad = p[1].value.grad();
    std::vector<double> values = grad.to_vector();
    values.back() = std::numeric_limits<double>::quiet_NaN();
    grad.assign(Tensor::from(values, grad.shape()));
  });
  const StepResult bad = t.step();
  BOOST_TEST(bad.problem.find("gradient norm nan") != std::string::npos, bad.problem);
  BOOST_TEST(t.state().step == 1);
  BOOST_TEST(t.state().optimizer_t == 1);
  size_t i = 0;
  for (const auto& [name, tensor] : tensors())
    BOOST_TEST((tensor.to_vector() == before[i++]), name << " has changed");
  t.call_after_backward(nullptr);
  BOOST_TEST(t.step().step == 2);
}

BOOST_AUTO_TEST_SUITE_END()
