// Training by several processes, each with a device of its own.

#include <boost/test/unit_test.hpp>
#include <sstream>

#include "apps/train/trainer.h"
#include "engine/base/error.h"
#include "tests/apps/toy_run.h"
#include "tests/support/cuda/devices.h"
#include "tests/support/messages.h"
#include "tests/support/processes.h"

BOOST_AUTO_TEST_SUITE(test_cuda_processes)  // ctest: emulated

using namespace farfield;
using namespace farfield::train;
using farfield::test::toy;
using test::EndedProcess;
using test::in_processes;
using Processes = std::shared_ptr<comm::Communicator>;

namespace {

run::RunConfig toy_config(const std::string& posenc) {
  run::RunConfig config = toy().config(posenc);
  config.batch = 8;
  config.n_head = 4;
  config.device = "cuda";
  config.hidden_dropout = 0.1;
  config.valid_windows = 2;
  return config;
}

// Losses and gradient norms of two steps, the loss of the valid split.
std::string trained(const run::RunConfig& config, const Group& group) {
  set_default_cuda(group.rank());
  Trainer t(run::resolve(config), data::Corpus::open(config.data.front()), group);
  std::ostringstream said;
  said.precision(17);
  for (int64_t i = 0; i < 2; ++i) {
    const StepResult step = t.step();
    said << step.loss << ' ' << step.grad_norm << ' ';
  }
  said << *t.valid_loss();
  for (const run::NamedTensors& tensors : {t.model_tensors(), t.optimizer_tensors()})
    require<Error>(!group.is_first() || tensors.size() > 10, "test", "expected all tensors");
  return said.str();
}

struct FourDevices : emulation::KeepDevices {
  FourDevices() { emulation::emulated_devices().capabilities.resize(4, {8, 0}); }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(they_agree_with_one_to_rounding, FourDevices) {
  run::RunConfig config = toy_config("rope + fire(share=layer)");
  const std::string wanted = trained(config, {});
  for (const auto& [size, n_tensor] : {std::pair{2, 1}, {4, 2}}) {
    config.tensor_parallel = n_tensor;
    const std::vector<EndedProcess> ended =
        in_processes(size, [&](Processes all) { return trained(config, Group(all)); });
    for (const EndedProcess& process : ended) {
      BOOST_TEST_REQUIRE(process.status == 0, process.said);
      BOOST_TEST(process.said == ended[0].said);
    }
    std::istringstream got(ended[0].said), want(wanted);
    double x = 0, y = 0;
    for (int i = 0; i < 5; ++i) {
      BOOST_TEST_REQUIRE((got >> x && want >> y));
      BOOST_TEST(x == y, boost::test_tools::tolerance(1e-4));
    }
  }
}

BOOST_FIXTURE_TEST_CASE(the_order_of_the_host_is_not_nccls, FourDevices) {
  run::RunConfig config = toy_config("none");
  config.deterministic_reduce = "on";
  for (const EndedProcess& process : in_processes(2, [&](Processes all) {
         return message_of<ConfigError>([&] { trained(config, Group(all)); });
       }))
    BOOST_TEST(process.said.find("expected --deterministic-reduce off of 2 processes that share a "
                                 "batch on cuda:") != std::string::npos,
               process.said);
}

BOOST_AUTO_TEST_CASE(each_needs_a_device) {
  const run::RunConfig config = toy_config("none");
  const std::vector<EndedProcess> ended =
      in_processes(2, [&](Processes all) { return trained(config, Group(all)); });
  BOOST_TEST(ended[1].said == "[device] expected one of 1 GPUs, counted from cuda:0, got cuda:1");
}

BOOST_AUTO_TEST_SUITE_END()
