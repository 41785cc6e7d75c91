// How recorded work is given to the device, as the emulated one counts it; test_cuda_graph has what
// becomes of it.

#include <boost/test/unit_test.hpp>
#include <vector>

#include "engine/ops/pointwise.h"
#include "engine/step_graph.h"
#include "tests/support/both_devices.h"
#include "tests/support/cuda/capture.h"
#include "tests/support/cuda/copies.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_graph)
namespace {

using emulation::n_graph_launches;

BOOST_AUTO_TEST_CASE(work_is_called_once_to_run_and_once_to_be_recorded) {
  StepGraph graph(kCuda);
  Tensor x = Tensor::from({1, 2}, {2}, DType::f32, kCuda), y;
  int n_calls = 0;
  const auto work = [&] {
    ++n_calls;
    y = x * 3.0 + x;
  };
  const int64_t before = n_graph_launches();
  for (int i = 0; i < 5; ++i) {
    BOOST_TEST(graph.is_next_recorded() == (i == 1));
    x.assign(Tensor::full({2}, i + 1, DType::f32));
    graph.run(work);
    BOOST_TEST((y.to_vector() == std::vector<double>(2, 4.0 * (i + 1))));
    BOOST_TEST(graph.is_recorded() == (i > 0));
  }
  BOOST_TEST(n_calls == 2);
  BOOST_TEST(n_graph_launches() - before == 4);
  BOOST_TEST(graph.n_nodes() == 2);  // product and sum; the number is a part of the product
  BOOST_TEST(graph.why_not() == "");
}

BOOST_AUTO_TEST_CASE(what_is_uploaded_while_work_is_recorded_is_not_waited_for) {
  StepGraph graph(kCuda);
  const auto many = random_tensor({1200, 1200}, 2, -1, 1, DType::f32);  // more than is staged
  Tensor large;
  const auto work = [&] { large = many.to(kCuda); };
  graph.run(work);
  const int64_t waits = emulation::n_host_waits();
  graph.run(work);
  BOOST_TEST(emulation::n_host_waits() == waits);
  BOOST_TEST(graph.is_recorded());
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
