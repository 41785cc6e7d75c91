// FARFIELD_CUDA_SYNC=1: what the device fails at is named. Without it the error comes when somebody
// waits, and of what it is nobody knows.

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string_view>

#include "engine/cuda/launch.h"
#include "engine/device_info.h"
#include "engine/ops/matmul.h"
#include "engine/ops/pointwise.h"
#include "engine/step_graph.h"
#include "tests/support/both_devices.h"
#include "tests/support/cuda/capture.h"
#include "tests/support/cuda/fault_in.h"
#include "tests/support/messages.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_waited_launches)
namespace {

constexpr const char* kNameless = "[cuda] work of cuda:0: an illegal memory access was encountered";

Tensor on_device(const Shape& shape) { return Tensor::full(shape, 1, DType::f32, kCuda); }

// Once more with FARFIELD_CUDA_SYNC=1, as test_waited_launches_by_environment.
BOOST_AUTO_TEST_CASE(the_environment_says_whether_each_launch_is_waited_for) {
  const char* const said = std::getenv("FARFIELD_CUDA_SYNC");
  BOOST_TEST(waits_for_each_launch() == (said != nullptr && std::string_view(said) == "1"));
}

BOOST_AUTO_TEST_CASE(without_it_a_fault_has_no_name_and_stays) {
  const WaitsForEach waits(false);
  const Tensor x = on_device({3});
  const FaultIn fault(2);
  Tensor y = exp(x);
  y = exp(y);
  y = exp(y);
  BOOST_CHECK_EXCEPTION(synchronize(kCuda), BackendError, says_exactly(kNameless));
  // Of the launch, or of the allocation before it where no block was kept.
  BOOST_CHECK_EXCEPTION(exp(x), BackendError, says("[cuda] ", " of ", "illegal memory access"));
  BOOST_CHECK_EXCEPTION(synchronize(kCuda), BackendError, says_exactly(kNameless));
}

BOOST_AUTO_TEST_CASE(a_fault_is_that_of_the_kernel) {
  const WaitsForEach waits(true);
  const Tensor x = on_device({3});
  const FaultIn fault(2);
  const Tensor y = exp(x);
  BOOST_CHECK_EXCEPTION(log(y), BackendError,
                        says("[cuda] work of void farfield::", "map_kernel<farfield::Log",
                             " with grid (1, 1, 1), block (",
                             ", 0 bytes of dynamic shared memory: an illegal memory access was "
                             "encountered"));
}

BOOST_AUTO_TEST_CASE(a_fault_is_that_of_the_product) {
  const WaitsForEach waits(true);
  const Tensor a = on_device({3, 4}), b = on_device({4, 5});
  const FaultIn fault(1);
  BOOST_CHECK_EXCEPTION(matmul(a, b), BackendError,
                        says_exactly("[cuda] product of 3 x 4 and 4 x 5, float32 to float32: an "
                                     "illegal memory access was encountered"));
}

BOOST_AUTO_TEST_CASE(a_fault_is_that_of_the_copy_or_memset) {
  const WaitsForEach waits(true);
  const Tensor host = Tensor::zeros({2}), large = Tensor::zeros({1200, 1200}),
               device = on_device({7}), a = on_device({3, 0}), b = on_device({0, 5});
  const auto fails_at = [](const std::string& what, const auto& work) {
    const FaultIn fault(1);
    BOOST_CHECK_EXCEPTION(
        work(), BackendError,
        says_exactly("[cuda] " + what + ": an illegal memory access was encountered"));
  };
  fails_at("copy of 8 bytes to the device", [&] { host.to(kCuda); });
  fails_at("copy of 5760000 bytes to the device", [&] { large.to(kCuda); });
  fails_at("copy of 28 bytes from cuda:0 to cpu", [&] { device.to(Device{}); });
  fails_at("copy of 28 bytes from cuda:0 to cuda:0", [&] { device.clone(); });
  fails_at("clearing of 3 x 5 elements", [&] { matmul(a, b); });
}

BOOST_AUTO_TEST_CASE(what_is_waited_for_is_not_recorded) {
  const Tensor x = on_device({3});
  Tensor y;
  int n_calls = 0;
  const auto work = [&] {
    ++n_calls;
    y = exp(log(x));
  };
  const auto run_to = [&](StepGraph& graph, int n) {
    for (n_calls = 0; n > 0; --n) graph.run(work);
  };
  {
    const WaitsForEach waits(false);
    StepGraph graph(kCuda);
    run_to(graph, 3);
    BOOST_TEST(graph.is_recorded());
    const FaultIn fault(2);
    graph.run(work);
    BOOST_CHECK_EXCEPTION(synchronize(kCuda), BackendError, says_exactly(kNameless));
  }
  const WaitsForEach waits(true);
  StepGraph graph(kCuda);
  const int64_t launches = emulation::n_graph_launches();
  run_to(graph, 3);
  BOOST_TEST(n_calls == 3);
  BOOST_TEST(emulation::n_graph_launches() == launches);
  BOOST_TEST(graph.why_not() ==
             "[cuda] FARFIELD_CUDA_SYNC=1 asks for each kernel to be waited for, which those of a "
             "graph cannot be");
  const FaultIn fault(2);
  BOOST_CHECK_EXCEPTION(graph.run(work), BackendError, says("[cuda] work of ", "farfield::Exp"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
