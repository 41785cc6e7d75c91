// The same on the emulated device, with steps that are recorded.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <utility>

#include "tests/apps/train/rounded_weights.h"
#include "tests/support/cuda/grid.h"
#include "tests/support/cuda/symbol_name.h"

BOOST_AUTO_TEST_SUITE(test_rounded_weights_cuda)  // ctest: emulated

using namespace farfield;
using namespace farfield::train;
using namespace farfield::test;

namespace {

run::RunConfig config_of(const std::string& cuda_graph) {
  run::RunConfig config = toy().config("alibi");
  config.device = "cuda";
  config.cuda_graph = cuda_graph;
  return config;
}

// The kernels of a step.
std::set<std::string> kernels_of_a_step(Trainer& t) {
  const emulation::SharedBytesGiven given;
  t.step();
  std::set<std::string> names;
  for (const auto& [kernel, bytes] : given.of_kernel) names.insert(emulation::symbol_name(kernel));
  return names;
}

// map_kernel<Same, float, BFloat16>
bool has_cast(const std::set<std::string>& kernels) {
  return std::any_of(kernels.begin(), kernels.end(), [](const std::string& mangled) {
    return mangled.find("map_kernel") != std::string::npos &&
           mangled.find("4SameEfNS_8BFloat16E") != std::string::npos;
  });
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_happens_between_recorded_steps_leaves_no_stale_weight) {
  for (const auto& [cuda_graph, optimizer] :
       {std::pair{"auto", "adamw"}, {"auto", "nag"}, {"off", "adamw"}}) {
    run::RunConfig config = config_of(cuda_graph);
    config.optimizer = optimizer;
    config.accumulate = 2;
    check_a_run_of_everything(config);
  }
}

BOOST_AUTO_TEST_CASE(no_weight_is_cast_in_a_step) {
  for (const char* cuda_graph : {"auto", "off"})
    for (const int64_t accumulate : {1, 2}) {
      run::RunConfig config = config_of(cuda_graph);
      config.accumulate = accumulate;
      Trainer t = rounded_trainer(config), casting = rounded_trainer(config);
      ask_for_weights(casting);
      for (int i = 0; i < 4; ++i) {
        const auto kernels = kernels_of_a_step(t);
        BOOST_TEST(kernels.size() > 20u);
        BOOST_TEST(!has_cast(kernels));
        BOOST_TEST(has_cast(kernels_of_a_step(casting)));
      }
      BOOST_TEST(t.graph().is_recorded() == (config.cuda_graph == "auto"));
    }
}

// What a recording writes nobody sees when it is repeated: a step in which somebody else may have
// written weights is not recorded, and another is.
BOOST_AUTO_TEST_CASE(a_step_in_which_weights_were_written_is_not_repeated) {
  Trainer got = rounded_trainer(config_of("auto")), want = rounded_trainer(config_of("off"));
  ask_for_weights(want);
  for (int i = 0; i < 2; ++i) step_both(got, want);
  BOOST_TEST(got.graph().is_recorded());
  got.restore(snapshot(got));
  ask_for_weights(got);
  want.give_up_when(nullptr);
  for (int i = 0; i < 3; ++i) {
    step_both(got, want);
    BOOST_TEST(!got.graph().is_recorded());
    check_rounded(got, false);
  }
  got.give_up_when(nullptr);
  for (int i = 0; i < 3; ++i) {
    step_both(got, want);
    check_rounded(got);
  }
  BOOST_TEST(got.graph().is_recorded());
  check_same_tensors(got, want);
}

BOOST_AUTO_TEST_SUITE_END()
