// A training step that fits into the memory of the device, but whose recording, which needs more,
// does not.

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "apps/train/trainer.h"
#include "engine/storage.h"
#include "tests/apps/toy_run.h"
#include "tests/apps/train/training_calls.h"
#include "tests/support/cuda/capture.h"
#include "tests/support/cuda/device_memory.h"
#include "tests/support/cuda/devices.h"

BOOST_AUTO_TEST_SUITE(test_step_graph_memory)  // ctest: emulated

using namespace farfield;
using namespace farfield::train;
using farfield::test::toy;

namespace {

constexpr Device kCuda{Device::Kind::cuda, 0};

run::RunConfig config_of(const std::string& cuda_graph) {
  run::RunConfig config = toy().config();
  config.device = "cuda";
  config.cuda_graph = cuda_graph;
  return config;
}

Trainer trainer(const run::RunConfig& config) {
  return {run::resolve(config), data::Corpus::open(config.data.front())};
}

void empty_the_device() {
  release_cached_memory(kCuda);
  reset_peak_memory(kCuda);
}

// What the device had to have for the first step. The second does with as much, unless it is
// recorded: a recording keeps the gradients of the first beside its own.
size_t bytes_of_a_step() {
  return std::max(emulation::allocated_device_bytes(),
                  static_cast<size_t>(memory_stats(kCuda).peak_bytes));
}

// What a run leaves: of each step loss and norm, of each tensor its bits.
struct Trained {
  std::vector<std::vector<double>> steps;
  std::vector<std::string> tensors;

  void add(const StepResult& step) {
    steps.push_back({static_cast<double>(step.step), step.loss, step.grad_norm});
  }
  void add(const Trainer& from) {
    for (const run::NamedTensors& all : {from.model_tensors(), from.optimizer_tensors()})
      for (const auto& [name, tensor] : all) {
        const Tensor x = tensor.to(Device{});
        tensors.emplace_back(static_cast<const char*>(x.raw_data()),
                             static_cast<size_t>(x.size_bytes()));
      }
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_step_whose_recording_has_no_room_goes_on_without) {
  Trained want, got;
  {
    Trainer plain = trainer(config_of("off"));
    while (!plain.is_done()) want.add(plain.step());
    want.add(plain);
  }
  empty_the_device();
  const size_t bytes_before = emulation::allocated_device_bytes();
  const emulation::KeepDevices keep;
  const int64_t launches = emulation::n_graph_launches();
  {
    Trainer t = trainer(config_of("auto"));
    got.add(t.step());
    // A block that could be given back, which nothing in a step is large enough for.
    Tensor::zeros({1 << 20}, DType::f32, kCuda);
    emulation::emulated_devices().total_bytes = bytes_of_a_step();
    BOOST_TEST(t.graph().is_next_recorded());
    while (!t.is_done()) {
      got.add(t.step());
      const std::string& why = t.graph().why_not();
      BOOST_TEST(!t.graph().is_recorded());
      BOOST_TEST(why.rfind("[memory] cuda:0: ", 0) == 0, why);
      BOOST_TEST(why.find(" bytes asked for, ") != std::string::npos, why);
    }
    got.add(t);
  }
  BOOST_TEST(emulation::n_graph_launches() == launches);
  BOOST_TEST((got.steps == want.steps));
  BOOST_TEST((got.tensors == want.tensors));
  empty_the_device();  // memory freed during the recording is not lost
  BOOST_TEST(emulation::allocated_device_bytes() == bytes_before);
}

BOOST_AUTO_TEST_CASE(a_run_says_once_that_a_recording_has_no_room) {
  const emulation::KeepDevices keep;
  size_t total_bytes = 0;
  {
    empty_the_device();
    Trainer t = trainer(config_of("auto"));
    t.step();
    total_bytes = bytes_of_a_step();
  }
  const auto trained = [](const std::string& name, const std::string& cuda_graph) {
    std::string said;
    TrainingRun run = TrainingRun::start(run::resolve(config_of(cuda_graph)), toy().path(name));
    BOOST_TEST((test::go(run, {}, &said) == cli::kDone));
    return said;
  };
  trained("plain", "off");
  empty_the_device();
  emulation::emulated_devices().total_bytes = total_bytes;
  const std::string said = trained("no room", "auto");
  const std::string line = "[train] steps are not a CUDA graph: [memory] cuda:0: ";
  const size_t first = said.find(line);
  BOOST_REQUIRE_MESSAGE(first != std::string::npos, said);
  BOOST_TEST(said.find("CUDA graph", first + line.size()) == std::string::npos, said);
  const std::string plain = toy().path("plain"), without_room = toy().path("no room");
  BOOST_TEST((test::metrics(without_room) == test::metrics(plain)));
  for (const char* file : {"model.safetensors", "optimizer.safetensors"})
    BOOST_TEST((test::bytes(without_room, 8, file) == test::bytes(plain, 8, file)), file);
}

BOOST_AUTO_TEST_SUITE_END()
