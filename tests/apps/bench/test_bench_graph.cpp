// What `bench step` says of how the emulated device is given a step.

#include <boost/test/unit_test.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "apps/bench/commands.h"
#include "apps/cli/options.h"
#include "engine/base/error.h"
#include "engine/product_choices.h"
#include "tests/support/cuda/capture.h"
#include "tests/support/messages.h"

namespace farfield::bench {
BOOST_AUTO_TEST_SUITE(test_bench_graph)  // ctest: emulated
namespace {

std::string run(const char* device, const char* cuda_graph, const char* tune = "off") {
  const std::vector<const char*> words = {"bench",        "step",
                                          "--device",     device,
                                          "--preset",     "smoke",
                                          "--train-len",  "16",
                                          "--batch",      "2",
                                          "--rounds",     "2",
                                          "--posenc",     "alibi, fire, cape",
                                          "--tune",       tune,
                                          "--cuda-graph", cuda_graph};
  std::ostringstream out;
  BOOST_TEST(bench(static_cast<int>(words.size()), words.data(), out) == cli::kDone);
  return out.str();
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

BOOST_AUTO_TEST_CASE(a_step_is_repeated_as_a_graph_where_that_can_be) {
  const int64_t before = emulation::n_graph_launches();
  const std::string text = run("cuda", "auto");
  // one to warm up, two rounds
  BOOST_TEST(emulation::n_graph_launches() - before == 3 * 3);
  BOOST_TEST(has(text, "alibi: one CUDA graph of "), text);
  BOOST_TEST(has(text, "fire: one CUDA graph of "), text);
  BOOST_TEST(has(text, "cape: one CUDA graph of "), text);
}

BOOST_AUTO_TEST_CASE(no_step_is_repeated_where_that_is_turned_off_or_on_the_cpu) {
  const int64_t before = emulation::n_graph_launches();
  BOOST_TEST(has(run("cuda", "off"), "alibi: kernel by kernel: --cuda-graph is off"));
  BOOST_TEST(!has(run("cpu", "auto"), "kernel by kernel"));
  BOOST_TEST(emulation::n_graph_launches() == before);
  BOOST_CHECK_EXCEPTION(run("cuda", "on"), ConfigError,
                        says("--cuda-graph: expected auto or off, got 'on'"));
}

BOOST_AUTO_TEST_CASE(the_products_of_each_step_are_measured_first) {
  const std::string text = run("cuda", "auto", "on");
  BOOST_TEST(has(text, "its products:\nalibi: "), text);
  BOOST_TEST(has(text, "fire: "), text);
  BOOST_TEST(has(text, " measured, 0 faster by another algorithm than the one that cuBLASLt"),
             text);
  use_product_choices({Device::Kind::cuda, 0}, {});
  BOOST_CHECK_EXCEPTION(run("cpu", "auto", "on"), ConfigError,
                        says("--tune on: expected --device cuda, got cpu"));
  BOOST_CHECK_EXCEPTION(run("cuda", "auto", "maybe"), ConfigError,
                        says("--tune: expected off or on, got 'maybe'"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::bench
